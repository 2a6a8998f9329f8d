/* Index arithmetic: 64 bits, wraps through uint64_t; the smallest value divided by -1 is itself. */

static inline int64_t smooth_wrap(uint64_t x)
{
    return x <= (uint64_t)INT64_MAX ? (int64_t)x : -(int64_t)(UINT64_MAX - x) - 1;
}

static inline int64_t smooth_add(int64_t a, int64_t b)
{
    return smooth_wrap((uint64_t)a + (uint64_t)b);
}

static inline int64_t smooth_sub(int64_t a, int64_t b)
{
    return smooth_wrap((uint64_t)a - (uint64_t)b);
}

static inline int64_t smooth_mul(int64_t a, int64_t b)
{
    return smooth_wrap((uint64_t)a * (uint64_t)b);
}

static inline int64_t smooth_neg(int64_t a)
{
    return smooth_wrap(0 - (uint64_t)a);
}

static inline int64_t smooth_div(int64_t a, int64_t b)
{
    return b == -1 ? smooth_neg(a) : a / b;
}

static inline int64_t smooth_rem(int64_t a, int64_t b)
{
    return b == -1 ? 0 : a % b;
}

static inline int64_t smooth_imin(int64_t a, int64_t b)
{
    return a <= b ? a : b;
}

static inline int64_t smooth_imax(int64_t a, int64_t b)
{
    return a >= b ? a : b;
}

static inline int64_t smooth_iabs(int64_t a)
{
    return a < 0 ? smooth_neg(a) : a;
}

/* whether a double fits an Index once its fraction is cut off */
static inline bool smooth_is_index(double x)
{
    return x >= -9223372036854775808.0 && x < 9223372036854775808.0;
}

/* whether any of so many indices is not in 0 … end - 1 */
static inline bool smooth_any_outside(const int64_t *indices, int64_t count, int64_t end)
{
    uint64_t outside = 0;
    for (int64_t k = 0; k < count; ++k) {
        outside |= (uint64_t)((uint64_t)indices[k] >= (uint64_t)end);
    }
    return outside != 0;
}
