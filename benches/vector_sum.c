/* The gradient of the sum of v: one everywhere. */
#include <stdint.h>
#include <stddef.h>

size_t sumGradient_workspace(int64_t n)
{
    (void)n;
    return 0;
}

int sumGradient(int64_t n, const double *restrict v, double *restrict out, void *workspace, size_t bytes)
{
    (void)v, (void)workspace, (void)bytes;
    for (int64_t i = 0; i < n; ++i) {
        out[i] = 1.0;
    }
    return 0;
}
