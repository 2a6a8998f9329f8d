/* A step is linear, so the backward pass needs no states: it is the transposed step, with weights 1 - 2 r and r inside. */

/* v = one step from u. */
static void step(int64_t n, double r, const double *restrict u, double *restrict v)
{
    v[0] = u[0];
    v[n - 1] = u[n - 1];
#pragma omp simd
    for (int64_t i = 1; i < n - 1; ++i) {
        v[i] = u[i] + r * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
    }
}

/* v = what u is worth one step before; the ends give nothing to their neighbours' past but take from it. */
static void step_back(int64_t n, double r, const double *restrict u, double *restrict v)
{
#pragma omp simd
    for (int64_t i = 2; i < n - 2; ++i) {
        v[i] = u[i] + r * (u[i - 1] - 2.0 * u[i] + u[i + 1]);
    }
    v[0] = u[0] + r * u[1];
    v[1] = u[1] + r * (u[2] - 2.0 * u[1]);
    v[n - 2] = u[n - 2] + r * (u[n - 3] - 2.0 * u[n - 2]);
    v[n - 1] = u[n - 1] + r * u[n - 2];
}

size_t heatGradient_workspace(int64_t n, int64_t steps)
{
    (void)steps;
    return (size_t)(2 * n) * sizeof(double);
}

/* For four cells or more. */
int heatGradient(int64_t n, const double *restrict u, const double *restrict target, double r, int64_t steps, double *restrict out, void *workspace, size_t bytes)
{
    (void)bytes;
    double *a = workspace;
    double *b = a + n;
    memcpy(a, u, (size_t)n * sizeof(double));
    for (int64_t t = 0; t < steps; ++t) {
        step(n, r, a, b);
        double *moved = a;
        a = b;
        b = moved;
    }
    for (int64_t i = 0; i < n; ++i) {
        a[i] = 2.0 * (a[i] - target[i]);
    }
    for (int64_t t = 0; t < steps; ++t) {
        step_back(n, r, a, b);
        double *moved = a;
        a = b;
        b = moved;
    }
    memcpy(out, a, (size_t)n * sizeof(double));
    return 0;
}
