/* The 3 x 7 Jacobians of p + 2 w (a x p) + 2 a x (a x p) in (w, a, p). With the identities for double cross products they are
       d/dw   = 2 (a x p)
       d/da_k = 2 (w (e_k x p) + (a.p) e_k + p_k a - 2 a_k p)
       d/dp   = (1 - 2 a.a) I + 2 w [a]x + 2 a a^T
   Eight of them are computed in the lanes of vectors, and their results transposed in registers on the way to memory. */
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

size_t rotationJacobians_workspace(int64_t n)
{
    (void)n;
    return 0;
}

/* The Jacobians of eight points. */
static void eight(const double *restrict q, const double *restrict p, double *restrict out)
{
    /* the lines of the next eight, which the processor does not see coming in so many short rows */
    for (int line = 0; line < 21; ++line) {
        __builtin_prefetch(out + LANES * 21 + line * 8, 1);
    }
    double t[21][LANES] __attribute__((aligned(64)));
#pragma omp simd
    for (int i = 0; i < LANES; ++i) {
        const double w = 2.0 * q[i * 4], x = q[i * 4 + 1], y = q[i * 4 + 2], z = q[i * 4 + 3];
        const double X = p[i * 3], Y = p[i * 3 + 1], Z = p[i * 3 + 2];
        const double x2 = 2.0 * x, y2 = 2.0 * y, z2 = 2.0 * z;
        const double dot = x2 * X + y2 * Y + z2 * Z;
        const double wX = w * X, wY = w * Y, wZ = w * Z, wx = w * x, wy = w * y, wz = w * z;
        const double xX = x2 * X, yY = y2 * Y, zZ = z2 * Z;
        const double xY = x2 * Y, xZ = x2 * Z, yX = y2 * X, yZ = y2 * Z, zX = z2 * X, zY = z2 * Y;
        const double xy = x2 * y, xz = x2 * z, yz = y2 * z;
        const double xx = x2 * x, yy = y2 * y, zz = z2 * z;
        t[0][i] = yZ - zY;
        t[1][i] = dot - xX;
        t[2][i] = wZ + xY - 2.0 * yX;
        t[3][i] = xZ - wY - 2.0 * zX;
        t[4][i] = 1.0 - yy - zz;
        t[5][i] = xy - wz;
        t[6][i] = xz + wy;
        t[7][i] = zX - xZ;
        t[8][i] = yX - wZ - 2.0 * xY;
        t[9][i] = dot - yY;
        t[10][i] = wX + yZ - 2.0 * zY;
        t[11][i] = xy + wz;
        t[12][i] = 1.0 - xx - zz;
        t[13][i] = yz - wx;
        t[14][i] = xY - yX;
        t[15][i] = wY + zX - 2.0 * xZ;
        t[16][i] = zY - wX - 2.0 * yZ;
        t[17][i] = dot - zZ;
        t[18][i] = xz - wy;
        t[19][i] = yz + wx;
        t[20][i] = 1.0 - xx - yy;
    }
    transpose(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], out, 21);
    transpose(t[8], t[9], t[10], t[11], t[12], t[13], t[14], t[15], out + 8, 21);
    transpose(t[13], t[14], t[15], t[16], t[17], t[18], t[19], t[20], out + 13, 21);
}

int rotationJacobians(int64_t n, const double *restrict q, const double *restrict p, double *restrict out, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        eight(q + i * 4, p + i * 3, out + i * 21);
    }
    if (i < n) {
        double quaternions[LANES * 4] = {0}, points[LANES * 3] = {0}, results[LANES * 21];
        memcpy(quaternions, q + i * 4, (size_t)(n - i) * 4 * sizeof(double));
        memcpy(points, p + i * 3, (size_t)(n - i) * 3 * sizeof(double));
        eight(quaternions, points, results);
        memcpy(out + i * 21, results, (size_t)(n - i) * 21 * sizeof(double));
    }
    return 0;
}
