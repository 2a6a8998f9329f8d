/* The NNMF gradients, cancelled and factored: m / v_j - (sum_i A_ij / u_i) / v_j^2 and n / u_i - (sum_j A_ij / v_j) / u_i^2.
   Both walk A along its rows, eight at a time: the first to read and write its sums once for eight rows, the second to have
   eight independent sums. */
#include <stdint.h>
#include <stddef.h>
#include <string.h>

size_t gradientV_workspace(int64_t m, int64_t n)
{
    (void)m, (void)n;
    return 0;
}

int gradientV(int64_t m, int64_t n, const double *restrict A, const double *restrict u, const double *restrict v, double *restrict out, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    memset(out, 0, (size_t)n * sizeof(double));
    int64_t i = 0;
    for (; i + 8 <= m; i += 8) {
        const double *restrict a = A + i * n;
        const double c0 = 1.0 / u[i], c1 = 1.0 / u[i + 1], c2 = 1.0 / u[i + 2], c3 = 1.0 / u[i + 3];
        const double c4 = 1.0 / u[i + 4], c5 = 1.0 / u[i + 5], c6 = 1.0 / u[i + 6], c7 = 1.0 / u[i + 7];
        for (int64_t j = 0; j < n; ++j) {
            const double front = a[j] * c0 + a[n + j] * c1 + a[2 * n + j] * c2 + a[3 * n + j] * c3;
            const double back = a[4 * n + j] * c4 + a[5 * n + j] * c5 + a[6 * n + j] * c6 + a[7 * n + j] * c7;
            out[j] += front + back;
        }
    }
    for (; i < m; ++i) {
        const double c = 1.0 / u[i];
        for (int64_t j = 0; j < n; ++j) {
            out[j] += A[i * n + j] * c;
        }
    }
    for (int64_t j = 0; j < n; ++j) {
        const double r = 1.0 / v[j];
        out[j] = ((double)m - out[j] * r) * r;
    }
    return 0;
}

/* 1 / v_j for all j. */
size_t gradientU_workspace(int64_t m, int64_t n)
{
    (void)m;
    return (size_t)n * sizeof(double);
}

int gradientU(int64_t m, int64_t n, const double *restrict A, const double *restrict u, const double *restrict v, double *restrict out, void *workspace, size_t bytes)
{
    (void)bytes;
    double *restrict r = workspace;
    for (int64_t j = 0; j < n; ++j) {
        r[j] = 1.0 / v[j];
    }
    int64_t i = 0;
    for (; i + 8 <= m; i += 8) {
        const double *restrict a = A + i * n;
        double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0, s6 = 0, s7 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5, s6, s7)
        for (int64_t j = 0; j < n; ++j) {
            s0 += a[j] * r[j];
            s1 += a[n + j] * r[j];
            s2 += a[2 * n + j] * r[j];
            s3 += a[3 * n + j] * r[j];
            s4 += a[4 * n + j] * r[j];
            s5 += a[5 * n + j] * r[j];
            s6 += a[6 * n + j] * r[j];
            s7 += a[7 * n + j] * r[j];
        }
        const double s[8] = {s0, s1, s2, s3, s4, s5, s6, s7};
        for (int64_t k = 0; k < 8; ++k) {
            const double c = 1.0 / u[i + k];
            out[i + k] = ((double)n - s[k] * c) * c;
        }
    }
    for (; i < m; ++i) {
        double s = 0;
#pragma omp simd reduction(+ : s)
        for (int64_t j = 0; j < n; ++j) {
            s += A[i * n + j] * r[j];
        }
        const double c = 1.0 / u[i];
        out[i] = ((double)n - s * c) * c;
    }
    return 0;
}
