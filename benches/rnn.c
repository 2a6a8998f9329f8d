/* Back-propagation through time: all states are kept, the weights are transposed once so that W x is a sum of rows, and the
   gradients in the weights are sums of outer products after the backward pass. */

size_t rnnGradient_workspace(int64_t h, int64_t d, int64_t t)
{
    return (size_t)((h + d) * h + (t + 1) * h + t * h + h) * sizeof(double);
}

int rnnGradient(int64_t h, int64_t d, int64_t t, const double *restrict W, const double *restrict U, const double *restrict b, const double *restrict input, const double *restrict target, double *restrict out_0, double *restrict out_1, double *restrict out_2, void *workspace, size_t bytes)
{
    (void)bytes;
    double *restrict WT = workspace;
    double *restrict UT = WT + h * h;
    double *restrict x = UT + d * h;
    double *restrict delta = x + (t + 1) * h;
    double *restrict back = delta + t * h;
    transposed(h, h, W, WT);
    transposed(h, d, U, UT);
    memset(x, 0, (size_t)h * sizeof(double));
    for (int64_t s = 0; s < t; ++s) {
        double *next = x + (s + 1) * h;
        memcpy(next, b, (size_t)h * sizeof(double));
        add_rows(d, h, 1.0, input + s * d, 1, UT, h, next);
        add_rows(h, h, 1.0, x + s * h, 1, WT, h, next);
        tanh_all(h, next);
    }
    memset(back, 0, (size_t)h * sizeof(double));
    memset(out_2, 0, (size_t)h * sizeof(double));
    for (int64_t s = t - 1; s >= 0; --s) {
        for (int64_t i = 0; i < h; ++i) {
            const double r = x[(s + 1) * h + i];
            const double w = (1.0 - r * r) * (back[i] + 2.0 * (r - target[s * h + i]));
            delta[s * h + i] = w;
            out_2[i] += w;
            back[i] = 0.0;
        }
        add_rows(h, h, 1.0, delta + s * h, 1, W, h, back);
    }
    memset(out_0, 0, (size_t)(h * h) * sizeof(double));
    memset(out_1, 0, (size_t)(h * d) * sizeof(double));
    for (int64_t i = 0; i < h; ++i) {
        add_rows(t, h, 1.0, delta + i, h, x, h, out_0 + i * h);
        add_rows(t, d, 1.0, delta + i, h, input, d, out_1 + i * d);
    }
    return 0;
}
