/* The columns of the shift are zeros and ones: six sums are left. */

size_t normalEquations_workspace(int64_t n)
{
    (void)n;
    return 0;
}

int normalEquations(int64_t n, const double *restrict motion, const double *restrict points, const double *restrict goals, double *restrict square, double *restrict right, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    const double c = cos(motion[0]), s = sin(motion[0]);
    double sx = 0, sy = 0, ss = 0, rx = 0, ry = 0, turn = 0;
#pragma omp simd reduction(+ : sx, sy, ss, rx, ry, turn)
    for (int64_t i = 0; i < n; ++i) {
        const double x = c * points[2 * i] - s * points[2 * i + 1], y = s * points[2 * i] + c * points[2 * i + 1];
        const double u = x + motion[1] - goals[2 * i], v = y + motion[2] - goals[2 * i + 1];
        sx += x;
        sy -= y;
        ss += x * x + y * y;
        rx += u;
        ry += v;
        turn += x * v - y * u;
    }
    const double all[9] = {ss, sy, sx, sy, (double)n, 0, sx, 0, (double)n};
    memcpy(square, all, sizeof all);
    right[0] = turn, right[1] = rx, right[2] = ry;
    return 0;
}
