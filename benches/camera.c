/* The 2 x 11 Jacobian of each image point in the parameters of one camera. Everything that depends on the camera alone is
   computed once: the rotation R and its derivative in the rotation vector r, with c = cos, A = sin / |r|, B = (1 - c) / |r|^2,
       R = c I + A [r]x + B r r^T,   dR/dr_k = -A r_k I + A' r_k [r]x + A [e_k]x + B' r_k r r^T + B (e_k r^T + r e_k^T).
   A tile of points is computed with the point as the inner loop, then written out point by point. */
#include <math.h>
#include <stdint.h>
#include <stddef.h>

enum { TILE = 64 };

size_t cameraJacobian_workspace(int64_t n)
{
    (void)n;
    return 0;
}

/* to = scale I + cross [r]x, row by row */
static void spin(double scale, double cross, const double *r, double *to)
{
    to[0] = scale, to[1] = -cross * r[2], to[2] = cross * r[1];
    to[3] = cross * r[2], to[4] = scale, to[5] = -cross * r[0];
    to[6] = -cross * r[1], to[7] = cross * r[0], to[8] = scale;
}

int cameraJacobian(int64_t n, const double *restrict cam, const double *restrict x, double *restrict out, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    const double *r = cam;
    const double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    const double theta = sqrt(square), c = cos(theta), A = sin(theta) / theta, B = (1.0 - c) / square;
    const double dA = (c - A) / square, dB = (A - 2.0 * B) / square;
    double R[9], D[27];
    spin(c, A, r, R);
    for (int i = 0; i < 3; ++i) {
        for (int j = 0; j < 3; ++j) {
            R[i * 3 + j] += B * r[i] * r[j];
        }
    }
    for (int k = 0; k < 3; ++k) {
        const double axis[3] = {dA * r[k] * r[0] + (k == 0 ? A : 0.0), dA * r[k] * r[1] + (k == 1 ? A : 0.0), dA * r[k] * r[2] + (k == 2 ? A : 0.0)};
        spin(-A * r[k], 1.0, axis, D + k * 9);
        for (int i = 0; i < 3; ++i) {
            for (int j = 0; j < 3; ++j) {
                D[k * 9 + i * 3 + j] += dB * r[k] * r[i] * r[j] + B * ((i == k ? r[j] : 0.0) + (j == k ? r[i] : 0.0));
            }
        }
    }
    const double C0 = cam[3], C1 = cam[4], C2 = cam[5], f = cam[6], k1 = cam[9], k2 = cam[10];
    double tile[18][TILE];
    for (int64_t start = 0; start < n; start += TILE) {
        const int64_t count = n - start < TILE ? n - start : TILE;
        const double *restrict points = x + start * 3;
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) {
            const double Y0 = points[i * 3] - C0, Y1 = points[i * 3 + 1] - C1, Y2 = points[i * 3 + 2] - C2;
            const double z = 1.0 / (R[6] * Y0 + R[7] * Y1 + R[8] * Y2);
            const double a = (R[0] * Y0 + R[1] * Y1 + R[2] * Y2) * z, b = (R[3] * Y0 + R[4] * Y1 + R[5] * Y2) * z;
            const double s = a * a + b * b, L = 1.0 + s * (k1 + k2 * s), slope = 2.0 * k1 + 4.0 * k2 * s;
            const double fz = f * z, cross = fz * slope * a * b;
            const double g0 = fz * (L + slope * a * a), g2 = -(g0 * a + cross * b);
            const double h1 = fz * (L + slope * b * b), h2 = -(cross * a + h1 * b);
            const double d0 = D[0] * Y0 + D[1] * Y1 + D[2] * Y2, d1 = D[3] * Y0 + D[4] * Y1 + D[5] * Y2, d2 = D[6] * Y0 + D[7] * Y1 + D[8] * Y2;
            const double e0 = D[9] * Y0 + D[10] * Y1 + D[11] * Y2, e1 = D[12] * Y0 + D[13] * Y1 + D[14] * Y2, e2 = D[15] * Y0 + D[16] * Y1 + D[17] * Y2;
            const double l0 = D[18] * Y0 + D[19] * Y1 + D[20] * Y2, l1 = D[21] * Y0 + D[22] * Y1 + D[23] * Y2, l2 = D[24] * Y0 + D[25] * Y1 + D[26] * Y2;
            tile[0][i] = g0 * d0 + cross * d1 + g2 * d2;
            tile[1][i] = g0 * e0 + cross * e1 + g2 * e2;
            tile[2][i] = g0 * l0 + cross * l1 + g2 * l2;
            tile[3][i] = -(g0 * R[0] + cross * R[3] + g2 * R[6]);
            tile[4][i] = -(g0 * R[1] + cross * R[4] + g2 * R[7]);
            tile[5][i] = -(g0 * R[2] + cross * R[5] + g2 * R[8]);
            tile[6][i] = L * a;
            tile[7][i] = f * s * a;
            tile[8][i] = f * s * s * a;
            tile[9][i] = cross * d0 + h1 * d1 + h2 * d2;
            tile[10][i] = cross * e0 + h1 * e1 + h2 * e2;
            tile[11][i] = cross * l0 + h1 * l1 + h2 * l2;
            tile[12][i] = -(cross * R[0] + h1 * R[3] + h2 * R[6]);
            tile[13][i] = -(cross * R[1] + h1 * R[4] + h2 * R[7]);
            tile[14][i] = -(cross * R[2] + h1 * R[5] + h2 * R[8]);
            tile[15][i] = L * b;
            tile[16][i] = f * s * b;
            tile[17][i] = f * s * s * b;
        }
        for (int64_t i = 0; i < count; ++i) {
            double *restrict o = out + (start + i) * 22;
            for (int row = 0; row < 2; ++row) {
                for (int k = 0; k < 7; ++k) {
                    o[row * 11 + k] = tile[row * 9 + k][i];
                }
                o[row * 11 + 7] = row == 0 ? 1.0 : 0.0;
                o[row * 11 + 8] = row == 0 ? 0.0 : 1.0;
                o[row * 11 + 9] = tile[row * 9 + 7][i];
                o[row * 11 + 10] = tile[row * 9 + 8][i];
            }
        }
    }
    return 0;
}
