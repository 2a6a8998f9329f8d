/* The gradient of v.w in v: a copy of w. */
#include <stdint.h>
#include <stddef.h>
#include <string.h>

size_t dotGradient_workspace(int64_t n)
{
    (void)n;
    return 0;
}

int dotGradient(int64_t n, const double *restrict v, const double *restrict w, double *restrict out, void *workspace, size_t bytes)
{
    (void)v, (void)workspace, (void)bytes;
    memcpy(out, w, (size_t)n * sizeof(double));
    return 0;
}
