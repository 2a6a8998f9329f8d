/* How far off the probabilities are, for a block of samples at a time so that its rows are still near, times the samples. */
enum { BLOCK = 32 };

size_t logisticGradient_workspace(int64_t d, int64_t n)
{
    (void)d, (void)n;
    return 0;
}

int logisticGradient(int64_t d, int64_t n, const double *restrict w, const double *restrict x, const double *restrict y, double *restrict out, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    memset(out, 0, (size_t)d * sizeof(double));
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t count = n - first < BLOCK ? n - first : BLOCK;
        double z[BLOCK];
        for (int64_t i = 0; i < count; ++i) {
            double s = 0;
#pragma omp simd reduction(+ : s)
            for (int64_t k = 0; k < d; ++k) {
                s += x[(first + i) * d + k] * w[k];
            }
            z[i] = s;
        }
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) {
            z[i] = 1.0 / (1.0 + exp(-z[i])) - y[first + i];
        }
        add_rows(count, d, 1.0, z, 1, x + first * d, d, out);
    }
    return 0;
}
