/* The largest element in lanes, then the first place that has it. */

size_t maximumGradient_workspace(int64_t n)
{
    (void)n;
    return 0;
}

int maximumGradient(int64_t n, const double *restrict v, double *restrict out, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    if (n <= 0) {
        return 1;
    }
    double top = v[0];
#pragma omp simd reduction(max : top)
    for (int64_t i = 0; i < n; ++i) {
        top = v[i] > top ? v[i] : top;
    }
    int64_t at = 0;
    while (at < n - 1 && v[at] != top) {
        ++at;
    }
    memset(out, 0, (size_t)n * sizeof(double));
    out[at] = 1.0;
    return 0;
}
