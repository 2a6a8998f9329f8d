/* The Jacobian of v + w in v: the identity, cleared and then set. */
#include <stdint.h>
#include <stddef.h>
#include <string.h>

size_t addJacobian_workspace(int64_t n)
{
    (void)n;
    return 0;
}

int addJacobian(int64_t n, const double *restrict v, const double *restrict w, double *restrict out, void *workspace, size_t bytes)
{
    (void)v, (void)w, (void)workspace, (void)bytes;
    memset(out, 0, (size_t)n * (size_t)n * sizeof(double));
    for (int64_t i = 0; i < n; ++i) {
        out[i * n + i] = 1.0;
    }
    return 0;
}
