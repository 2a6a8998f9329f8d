/* Parts of a loop, a thread each. */

static inline int64_t smooth_threads(void)
{
#if defined(_OPENMP)
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/* how many: each must have work that is worth it, and that of clearing and adding so many sums of its own */
static inline int64_t smooth_parts_with(int64_t count, double work, int64_t sums)
{
    const int64_t threads = smooth_threads();
    const double worth = (double)count * work / (SMOOTH_WORTH + 24.0 * (double)sums);
    if (threads <= 1 || count <= 1 || worth < 2.0) {
        return 1;
    }
    const int64_t most = worth < (double)threads ? (int64_t)worth : threads;
    return most < count ? most : count;
}

static inline int64_t smooth_parts(int64_t count, double work)
{
    return smooth_parts_with(count, work, 0);
}

/* the first iteration of a part */
static inline int64_t smooth_part(int64_t count, int64_t part, int64_t parts)
{
    const int64_t longer = count % parts;
    return count / parts * part + (part < longer ? part : longer);
}

/* the same at a multiple of eight: lanes are filled as in a single part, and no rounding depends on parts */
static inline int64_t smooth_part_in_lanes(int64_t count, int64_t part, int64_t parts)
{
    return part < parts ? smooth_part(count, part, parts) / 8 * 8 : count;
}

/* the same for floats, of which sixteen are a vector */
static inline int64_t smooth_part_in_lanesf(int64_t count, int64_t part, int64_t parts)
{
    return part < parts ? smooth_part(count, part, parts) / 16 * 16 : count;
}

/* from one thread's workspace to the next: no two write to one line of a cache */
static inline size_t smooth_slice(size_t bytes)
{
    return bytes > SIZE_MAX - 63 ? SIZE_MAX : (bytes + 63) / 64 * 64;
}

static inline size_t smooth_slices(size_t bytes, int64_t threads)
{
    return threads > 1 ? smooth_times(smooth_slice(bytes), threads) : bytes;
}

/* as many parts as the workspace has slices */
static inline int64_t smooth_fit(int64_t parts, size_t bytes, size_t slice)
{
    const size_t most = slice > 0 ? bytes / slice : SIZE_MAX;
    return most >= (size_t)parts ? parts : most > 1 ? (int64_t)most : 1;
}
