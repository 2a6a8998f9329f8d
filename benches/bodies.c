/* Each pair once, on coordinates that lie apart; what one body takes the other gives. */

size_t energyGradient_workspace(int64_t n)
{
    return (size_t)(6 * n) * sizeof(double);
}

int energyGradient(int64_t n, const double *restrict x, const double *restrict mass, double *restrict out, void *workspace, size_t bytes)
{
    (void)bytes;
    double *restrict X = workspace;
    double *restrict Y = X + n;
    double *restrict Z = Y + n;
    double *restrict gX = Z + n;
    double *restrict gY = gX + n;
    double *restrict gZ = gY + n;
    for (int64_t i = 0; i < n; ++i) {
        X[i] = x[3 * i];
        Y[i] = x[3 * i + 1];
        Z[i] = x[3 * i + 2];
    }
    memset(gX, 0, (size_t)(3 * n) * sizeof(double));
    for (int64_t i = 1; i < n; ++i) {
        double sx = 0, sy = 0, sz = 0;
#pragma omp simd reduction(+ : sx, sy, sz)
        for (int64_t j = 0; j < i; ++j) {
            const double dx = X[i] - X[j], dy = Y[i] - Y[j], dz = Z[i] - Z[j];
            const double r = dx * dx + dy * dy + dz * dz + 1e-4;
            const double c = mass[i] * mass[j] / (r * sqrt(r));
            sx += c * dx;
            sy += c * dy;
            sz += c * dz;
            gX[j] -= c * dx;
            gY[j] -= c * dy;
            gZ[j] -= c * dz;
        }
        gX[i] += sx;
        gY[i] += sy;
        gZ[i] += sz;
    }
    for (int64_t i = 0; i < n; ++i) {
        out[3 * i] = gX[i];
        out[3 * i + 1] = gY[i];
        out[3 * i + 2] = gZ[i];
    }
    return 0;
}
