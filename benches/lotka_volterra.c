/* The states before the four slopes of each step are kept; the backward pass goes through them from the last. */

/* Adds what (gx, gy) of a slope at (x, y) is worth in the parameters to g, and gives what it is worth in the state. */
static inline void slope_back(const double *restrict p, const double *restrict at, double gx, double gy, double *restrict g, double *restrict worth)
{
    const double x = at[0], y = at[1];
    g[0] += gx * x;
    g[1] -= gx * x * y;
    g[2] += gy * x * y;
    g[3] -= gy * y;
    worth[0] = gx * (p[0] - p[1] * y) + gy * p[2] * y;
    worth[1] = gy * (p[2] * x - p[3]) - gx * p[1] * x;
}

size_t lotkaVolterraGradient_workspace(int64_t n)
{
    return (size_t)(8 * n) * sizeof(double);
}

int lotkaVolterraGradient(int64_t n, const double *restrict p, const double *restrict start, double dt, const double *restrict seen, double *restrict out, void *workspace, size_t bytes)
{
    (void)bytes;
    double *restrict kept = workspace;
    const double ahead[4] = {0.0, dt / 2.0, dt / 2.0, dt}, weight[4] = {dt / 6.0, dt / 3.0, dt / 3.0, dt / 6.0};
    double s[2] = {start[0], start[1]};
    for (int64_t t = 0; t < n; ++t) {
        double x = s[0], y = s[1], kx = 0, ky = 0;
        for (int k = 0; k < 4; ++k) {
            const double u = x + ahead[k] * kx, v = y + ahead[k] * ky;
            kept[8 * t + 2 * k] = u;
            kept[8 * t + 2 * k + 1] = v;
            kx = p[0] * u - p[1] * u * v;
            ky = p[2] * u * v - p[3] * v;
            s[0] += weight[k] * kx;
            s[1] += weight[k] * ky;
        }
    }
    double g[4] = {0, 0, 0, 0}, gx = 0, gy = 0;
    for (int64_t t = n - 1; t >= 0; --t) {
        const double *after = t == n - 1 ? s : kept + 8 * (t + 1);
        gx += 2.0 * (after[0] - seen[2 * t]);
        gy += 2.0 * (after[1] - seen[2 * t + 1]);
        double worth[2] = {0, 0}, sx = gx, sy = gy;
        for (int k = 3; k >= 0; --k) {
            const double next = k == 3 ? 0.0 : ahead[k + 1];
            slope_back(p, kept + 8 * t + 2 * k, weight[k] * gx + next * worth[0], weight[k] * gy + next * worth[1], g, worth);
            sx += worth[0];
            sy += worth[1];
        }
        gx = sx;
        gy = sy;
    }
    memcpy(out, g, sizeof g);
    return 0;
}
