/* Row by row: the errors of a row of what is made, as a sum of shifted rows of the image, then their products with the same
   rows. */

size_t kernelGradient_workspace(int64_t k, int64_t h, int64_t w)
{
    (void)k, (void)h;
    return (size_t)w * sizeof(double);
}

int kernelGradient(int64_t k, int64_t h, int64_t w, const double *restrict kernel, const double *restrict image, const double *restrict target, double *restrict out, void *workspace, size_t bytes)
{
    (void)bytes;
    double *restrict errors = workspace;
    const int64_t n = w - k + 1;
    memset(out, 0, (size_t)(k * k) * sizeof(double));
    for (int64_t i = 0; i < h - k + 1; ++i) {
        for (int64_t j = 0; j < n; ++j) {
            errors[j] = -target[i * n + j];
        }
        for (int64_t a = 0; a < k; ++a) {
            add_rows(k, n, 1.0, kernel + a * k, 1, image + (i + a) * w, 1, errors);
        }
        for (int64_t a = 0; a < k; ++a) {
            for (int64_t b = 0; b < k; ++b) {
                double s = 0;
#pragma omp simd reduction(+ : s)
                for (int64_t j = 0; j < n; ++j) {
                    s += errors[j] * image[(i + a) * w + b + j];
                }
                out[a * k + b] += 2.0 * s;
            }
        }
    }
    return 0;
}
