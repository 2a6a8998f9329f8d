/* Back-propagation over the whole batch, layer by layer: what a layer gives is kept for all samples, and the gradient in a
   matrix is the sum over the samples of outer products, row by row. The weights are transposed once, so that W x is a sum of
   rows. */

/* out = layer(x), for all n samples. WT has d rows of h numbers. */
static void forward(int64_t n, int64_t d, int64_t h, const double *restrict WT, const double *restrict b, const double *restrict x, double *restrict out)
{
    for (int64_t i = 0; i < n; ++i) {
        memcpy(out + i * h, b, (size_t)h * sizeof(double));
        add_rows(d, h, 1.0, x + i * d, 1, WT, h, out + i * h);
    }
}

/* The gradients in W and b from those in what the layer gives, before tanh: delta. */
static void weights(int64_t n, int64_t d, int64_t h, const double *restrict delta, const double *restrict x, double *restrict W, double *restrict b)
{
    memset(W, 0, (size_t)(h * d) * sizeof(double));
    memset(b, 0, (size_t)h * sizeof(double));
    for (int64_t r = 0; r < h; ++r) {
        add_rows(n, d, 1.0, delta + r, h, x, d, W + r * d);
    }
    for (int64_t i = 0; i < n; ++i) {
        for (int64_t r = 0; r < h; ++r) {
            b[r] += delta[i * h + r];
        }
    }
}

/* The gradients in tanh's arguments, in the place of what tanh gave, from those in what the next layer gives. */
static void backward(int64_t n, int64_t h, int64_t m, const double *restrict W, const double *restrict delta, double *restrict x, double *restrict row)
{
    for (int64_t i = 0; i < n; ++i) {
        memset(row, 0, (size_t)h * sizeof(double));
        add_rows(m, h, 1.0, delta + i * m, 1, W, h, row);
        for (int64_t r = 0; r < h; ++r) {
            const double t = x[i * h + r];
            x[i * h + r] = (1.0 - t * t) * row[r];
        }
    }
}

size_t mlpGradient_workspace(int64_t h, int64_t d, int64_t c, int64_t n)
{
    return (size_t)(d * h + h * h + h * c + n * (2 * h + c) + h) * sizeof(double);
}

int mlpGradient(int64_t h, int64_t d, int64_t c, int64_t n, const double *restrict W1, const double *restrict b1, const double *restrict W2, const double *restrict b2, const double *restrict W3, const double *restrict b3, const double *restrict x, const int64_t *restrict y, double *restrict out_0, double *restrict out_1, double *restrict out_2, double *restrict out_3, double *restrict out_4, double *restrict out_5, void *workspace, size_t bytes)
{
    (void)bytes;
    double *restrict W1T = workspace;
    double *restrict W2T = W1T + d * h;
    double *restrict W3T = W2T + h * h;
    double *restrict first = W3T + h * c;
    double *restrict second = first + n * h;
    double *restrict z = second + n * h;
    double *restrict row = z + n * c;
    for (int64_t i = 0; i < n; ++i) {
        if (y[i] < 0 || y[i] >= c) {
            return 5;
        }
    }
    transposed(h, d, W1, W1T);
    transposed(h, h, W2, W2T);
    transposed(c, h, W3, W3T);
    forward(n, d, h, W1T, b1, x, first);
    tanh_all(n * h, first);
    forward(n, h, h, W2T, b2, first, second);
    tanh_all(n * h, second);
    forward(n, h, c, W3T, b3, second, z);
    for (int64_t i = 0; i < n; ++i) {
        double *restrict p = z + i * c;
        double top = p[0], sum = 0;
        for (int64_t j = 1; j < c; ++j) {
            top = p[j] > top ? p[j] : top;
        }
#pragma omp simd reduction(+ : sum)
        for (int64_t j = 0; j < c; ++j) {
            p[j] = exp(p[j] - top);
            sum += p[j];
        }
        const double scale = 1.0 / (sum * (double)n);
        for (int64_t j = 0; j < c; ++j) {
            p[j] *= scale;
        }
        p[y[i]] -= 1.0 / (double)n;
    }
    weights(n, h, c, z, second, out_4, out_5);
    backward(n, h, c, W3, z, second, row);
    weights(n, h, h, second, first, out_2, out_3);
    backward(n, h, h, W2, second, first, row);
    weights(n, d, h, first, x, out_0, out_1);
    return 0;
}
