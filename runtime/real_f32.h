/* Floats, as `real.h` has them for doubles. */

static inline float smooth_fminf(float a, float b)
{
    return a <= b || a != a ? a : b;
}

static inline float smooth_fmaxf(float a, float b)
{
    return a >= b || a != a ? a : b;
}

static inline float smooth_signf(float x)
{
    return x > 0.0f ? 1.0f : x < 0.0f ? -1.0f : x != x ? x : 0.0f;
}

static inline float smooth_sigmoidf(float x)
{
    const float e = expf(-fabsf(x));
    return (x >= 0.0f ? 1.0f : e) / (1.0f + e);
}

static inline float smooth_softplusf(float x)
{
    return (x > 0.0f ? x : 0.0f) + log1pf(expf(-fabsf(x)));
}

static inline float smooth_lgammaf(float x)
{
    return lgammaf(x);
}

/* the series needs the digits of a double */
static inline float smooth_polygammaf(int64_t k, float x)
{
    return (float)smooth_polygamma(k, (double)x);
}

/* whether a float fits an Index once its fraction is cut off */
static inline bool smooth_is_indexf(float x)
{
    return x >= -9223372036854775808.0f && x < 9223372036854775808.0f;
}
