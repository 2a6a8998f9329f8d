/* The 2 x 11 Jacobian of each image point in the parameters of one camera. Everything that depends on the camera alone is
   computed once: the rotation R and its derivative in the rotation vector r, with c = cos, A = sin / |r|, B = (1 - c) / |r|^2,
       R = c I + A [r]x + B r r^T,   dR/dr_k = -A r_k I + A' r_k [r]x + A [e_k]x + B' r_k r r^T + B (e_k r^T + r e_k^T).
   Eight points are computed in the lanes of vectors, and their results transposed in registers on the way to memory. */
#include <math.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>

enum { LANES = 8 };
typedef double lanes __attribute__((vector_size(64)));
typedef double stored_lanes __attribute__((vector_size(64), aligned(8)));
typedef int64_t places __attribute__((vector_size(64)));

/* out[i * stride + k] = a_k[i] for eight by eight numbers, in registers. */
static inline __attribute__((always_inline)) void transpose(const double *a0, const double *a1, const double *a2, const double *a3, const double *a4, const double *a5, const double *a6, const double *a7, double *restrict out, int64_t stride)
{
    const places even = {0, 8, 2, 10, 4, 12, 6, 14}, odd = {1, 9, 3, 11, 5, 13, 7, 15};
    const places first = {0, 1, 8, 9, 4, 5, 12, 13}, second = {2, 3, 10, 11, 6, 7, 14, 15};
    const places low = {0, 1, 2, 3, 8, 9, 10, 11}, high = {4, 5, 6, 7, 12, 13, 14, 15};
#define LOAD(a) (*(const lanes *)(a))
    const lanes b0 = __builtin_shuffle(LOAD(a0), LOAD(a1), even), b1 = __builtin_shuffle(LOAD(a0), LOAD(a1), odd);
    const lanes b2 = __builtin_shuffle(LOAD(a2), LOAD(a3), even), b3 = __builtin_shuffle(LOAD(a2), LOAD(a3), odd);
    const lanes b4 = __builtin_shuffle(LOAD(a4), LOAD(a5), even), b5 = __builtin_shuffle(LOAD(a4), LOAD(a5), odd);
    const lanes b6 = __builtin_shuffle(LOAD(a6), LOAD(a7), even), b7 = __builtin_shuffle(LOAD(a6), LOAD(a7), odd);
#undef LOAD
    const lanes c0 = __builtin_shuffle(b0, b2, first), c1 = __builtin_shuffle(b1, b3, first);
    const lanes c2 = __builtin_shuffle(b0, b2, second), c3 = __builtin_shuffle(b1, b3, second);
    const lanes c4 = __builtin_shuffle(b4, b6, first), c5 = __builtin_shuffle(b5, b7, first);
    const lanes c6 = __builtin_shuffle(b4, b6, second), c7 = __builtin_shuffle(b5, b7, second);
    *(stored_lanes *)out = __builtin_shuffle(c0, c4, low);
    *(stored_lanes *)(out + stride) = __builtin_shuffle(c1, c5, low);
    *(stored_lanes *)(out + 2 * stride) = __builtin_shuffle(c2, c6, low);
    *(stored_lanes *)(out + 3 * stride) = __builtin_shuffle(c3, c7, low);
    *(stored_lanes *)(out + 4 * stride) = __builtin_shuffle(c0, c4, high);
    *(stored_lanes *)(out + 5 * stride) = __builtin_shuffle(c1, c5, high);
    *(stored_lanes *)(out + 6 * stride) = __builtin_shuffle(c2, c6, high);
    *(stored_lanes *)(out + 7 * stride) = __builtin_shuffle(c3, c7, high);
}

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

/* What depends on the camera alone. */
struct camera {
    double R[9], D[27], C[3], f, k1, k2;
};

/* The Jacobians of eight points. */
static void eight(const struct camera *cam, const double *restrict points, double *restrict out)
{
    const double *R = cam->R, *D = cam->D;
    const double f = cam->f, k1 = cam->k1, k2 = cam->k2;
    /* the lines of the next eight, which the processor does not see coming in so many short rows */
    for (int line = 0; line < 22; ++line) {
        __builtin_prefetch(out + LANES * 22 + line * 8, 1);
    }
    double tile[18][LANES] __attribute__((aligned(64)));
    const double zero[LANES] __attribute__((aligned(64))) = {0}, one[LANES] __attribute__((aligned(64))) = {1, 1, 1, 1, 1, 1, 1, 1};
#pragma omp simd
    for (int i = 0; i < LANES; ++i) {
        const double Y0 = points[i * 3] - cam->C[0], Y1 = points[i * 3 + 1] - cam->C[1], Y2 = points[i * 3 + 2] - cam->C[2];
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
    transpose(tile[0], tile[1], tile[2], tile[3], tile[4], tile[5], tile[6], one, out, 22);
    transpose(zero, tile[7], tile[8], tile[9], tile[10], tile[11], tile[12], tile[13], out + 8, 22);
    transpose(tile[12], tile[13], tile[14], tile[15], zero, one, tile[16], tile[17], out + 14, 22);
}

int cameraJacobian(int64_t n, const double *restrict cam, const double *restrict x, double *restrict out, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    const double *r = cam;
    const double square = r[0] * r[0] + r[1] * r[1] + r[2] * r[2];
    const double theta = sqrt(square), c = cos(theta), A = sin(theta) / theta, B = (1.0 - c) / square;
    const double dA = (c - A) / square, dB = (A - 2.0 * B) / square;
    struct camera shared = {.C = {cam[3], cam[4], cam[5]}, .f = cam[6], .k1 = cam[9], .k2 = cam[10]};
    double *R = shared.R, *D = shared.D;
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
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        eight(&shared, x + i * 3, out + i * 22);
    }
    if (i < n) {
        double points[LANES * 3], results[LANES * 22];
        for (int64_t k = 0; k < LANES * 3; ++k) {
            points[k] = x[k < (n - i) * 3 ? i * 3 + k : (n - 1) * 3 + k % 3];
        }
        eight(&shared, points, results);
        memcpy(out + i * 22, results, (size_t)(n - i) * 22 * sizeof(double));
    }
    return 0;
}

size_t cameraRows_workspace(int64_t n)
{
    (void)n;
    return 0;
}

/* The same numbers in the same places. */
int cameraRows(int64_t n, const double *restrict cam, const double *restrict x, double *restrict out, void *workspace, size_t bytes)
{
    return cameraJacobian(n, cam, x, out, workspace, bytes);
}
