/* The gradient of sum(M v): in v the sums of M's columns, added row by row, eight rows at a time so that the destination is
   read and written once for them; in M a copy of v as every row. */
#include <stdint.h>
#include <stddef.h>
#include <string.h>

size_t gradientInVector_workspace(int64_t m, int64_t n)
{
    (void)m, (void)n;
    return 0;
}

int gradientInVector(int64_t m, int64_t n, const double *restrict M, const double *restrict v, double *restrict out, void *workspace, size_t bytes)
{
    (void)v, (void)workspace, (void)bytes;
    memset(out, 0, (size_t)n * sizeof(double));
    int64_t i = 0;
    for (; i + 8 <= m; i += 8) {
        const double *restrict a = M + i * n;
        for (int64_t j = 0; j < n; ++j) {
            out[j] += ((a[j] + a[n + j]) + (a[2 * n + j] + a[3 * n + j])) + ((a[4 * n + j] + a[5 * n + j]) + (a[6 * n + j] + a[7 * n + j]));
        }
    }
    for (; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            out[j] += M[i * n + j];
        }
    }
    return 0;
}

size_t gradientInMatrix_workspace(int64_t m, int64_t n)
{
    (void)m, (void)n;
    return 0;
}

int gradientInMatrix(int64_t m, int64_t n, const double *restrict M, const double *restrict v, double *restrict out, void *workspace, size_t bytes)
{
    (void)M, (void)workspace, (void)bytes;
    for (int64_t i = 0; i < m; ++i) {
        memcpy(out + i * n, v, (size_t)n * sizeof(double));
    }
    return 0;
}
