/* Bytes: SIZE_MAX stands for all that do not fit. */

static inline size_t smooth_times(size_t bytes, int64_t count)
{
    if (count <= 0 || bytes == 0) {
        return 0;
    }
    return (uint64_t)count > (uint64_t)(SIZE_MAX / bytes) ? SIZE_MAX : bytes * (size_t)count;
}

static inline size_t smooth_plus(size_t a, size_t b)
{
    return a > SIZE_MAX - b ? SIZE_MAX : a + b;
}

/* up to a multiple of 8, so that what follows is aligned */
static inline size_t smooth_round(size_t bytes)
{
    return bytes > SIZE_MAX - 7 ? SIZE_MAX : (bytes + 7) / 8 * 8;
}

/* the same for floats; no branch, which would make gcc warn of loops that run so often */
static inline size_t smooth_roundf(size_t bytes)
{
    const size_t whole = (bytes + 7) / 8 * 8;
    return whole >= bytes ? whole : bytes;
}

/* where the next cache line begins: what vectors read and write is then in one line */
static inline char *smooth_line(char *at)
{
    return (char *)(((uintptr_t)at + 63) / 64 * 64);
}

static inline size_t smooth_most(size_t a, size_t b)
{
    return a >= b ? a : b;
}

static inline bool smooth_is_too_large(size_t bytes)
{
    return bytes > (size_t)PTRDIFF_MAX;
}

static inline bool smooth_is_too_small(size_t bytes, size_t need)
{
    return bytes < need || need == SIZE_MAX;
}
