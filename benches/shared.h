/* What the hand-written versions share: mathematics in vector lanes, and sums of rows. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"), const)) double exp(double);
__attribute__((simd("notinbranch"), const)) double log(double);
__attribute__((simd("notinbranch"), const)) double tanh(double);
#endif

/* y += scale (x_0 a_0 + x_1 a_1 + …), where the a_k are `count` rows of n numbers, `row` apart, and the x_k are `step` apart:
   eight rows at a time, so that y is read and written once for eight. */
static inline void add_rows(int64_t count, int64_t n, double scale, const double *x, int64_t step, const double *a, int64_t row, double *restrict y)
{
    int64_t k = 0;
    for (; k + 8 <= count; k += 8, x += 8 * step, a += 8 * row) {
        const double c0 = scale * x[0], c1 = scale * x[step], c2 = scale * x[2 * step], c3 = scale * x[3 * step];
        const double c4 = scale * x[4 * step], c5 = scale * x[5 * step], c6 = scale * x[6 * step], c7 = scale * x[7 * step];
#pragma omp simd
        for (int64_t j = 0; j < n; ++j) {
            const double front = c0 * a[j] + c1 * a[row + j] + c2 * a[2 * row + j] + c3 * a[3 * row + j];
            const double back = c4 * a[4 * row + j] + c5 * a[5 * row + j] + c6 * a[6 * row + j] + c7 * a[7 * row + j];
            y[j] += front + back;
        }
    }
    for (; k < count; ++k, x += step, a += row) {
        const double c = scale * x[0];
#pragma omp simd
        for (int64_t j = 0; j < n; ++j) {
            y[j] += c * a[j];
        }
    }
}

/* b = aᵀ, where a has m rows of n numbers. */
static inline void transposed(int64_t m, int64_t n, const double *restrict a, double *restrict b)
{
    for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            b[j * m + i] = a[i * n + j];
        }
    }
}

/* x = tanh x */
static inline void tanh_all(int64_t n, double *x)
{
#pragma omp simd
    for (int64_t i = 0; i < n; ++i) {
        x[i] = tanh(x[i]);
    }
}
