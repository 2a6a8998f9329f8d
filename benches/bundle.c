/* The 2 x 15 Jacobian of each observation. Eight observations are gathered into the lanes of vectors, so that sin and
   cos are vector calls, and their results transposed in registers on the way to memory.

   With Y = X - C, c = cos |r|, A = sin |r| / |r|, B = (1 - c) / |r|^2 the point before the camera is
       P = c Y + A r x Y + B (r.Y) r,
   and for a row g of the image's derivative in P
       g dP/dr = (-A g.Y + A' r.(Y x g) + B' (r.Y) (g.r)) r + A (Y x g) + B (g.r) Y + B (r.Y) g
       g dP/dX = c g + A (g x r) + B (g.r) r.
   Without rotation A = 1 and B = 0, which is what the program's other branch computes; it needs no branch here. */
#include <math.h>
#include <stdint.h>
#include <stddef.h>
#include <string.h>

/* Under names of their own: gcc makes one call of sincos of sin and cos of the same number, which has no vector form. */
#if defined(__GNUC__) && defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"), const)) double vector_sin(double) __asm__("sin");
__attribute__((simd("notinbranch"), const)) double vector_cos(double) __asm__("cos");
#else
#define vector_sin sin
#define vector_cos cos
#endif

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

size_t reprojectionJacobians_workspace(int64_t c, int64_t p, int64_t k)
{
    (void)c, (void)p, (void)k;
    return 0;
}

/* The Jacobians of eight observations. */
static void eight(const double *restrict cameras, const double *restrict points, const double *restrict weights, const int64_t *restrict camera, const int64_t *restrict point, const double *restrict observed, double *restrict out)
{
    /* the lines of the next eight, which the processor does not see coming in so many short rows */
    for (int line = 0; line < 30; ++line) {
        __builtin_prefetch(out + LANES * 30 + line * 8, 1);
    }
    double t[28][LANES] __attribute__((aligned(64)));
#pragma omp simd
    for (int i = 0; i < LANES; ++i) {
        const int64_t at = camera[i] * 11, to = point[i] * 3;
        const double r0 = cameras[at + 0], r1 = cameras[at + 1], r2 = cameras[at + 2];
        const double square = r0 * r0 + r1 * r1 + r2 * r2;
        const double none = square == 0.0 ? 1.0 : 0.0, inverse = 1.0 / (square + none);
        const double theta = sqrt(square), c = vector_cos(theta);
        const double A = vector_sin(theta) * theta * inverse + none, B = (1.0 - c) * inverse;
        const double dA = (c - A) * inverse, dB = (A - 2.0 * B) * inverse;
        const double Y0 = points[to + 0] - cameras[at + 3], Y1 = points[to + 1] - cameras[at + 4], Y2 = points[to + 2] - cameras[at + 5];
        const double rY = r0 * Y0 + r1 * Y1 + r2 * Y2, BrY = B * rY;
        const double P0 = c * Y0 + A * (r1 * Y2 - r2 * Y1) + BrY * r0;
        const double P1 = c * Y1 + A * (r2 * Y0 - r0 * Y2) + BrY * r1;
        const double P2 = c * Y2 + A * (r0 * Y1 - r1 * Y0) + BrY * r2;
        const double f = cameras[at + 6], k1 = cameras[at + 9], k2 = cameras[at + 10], w = weights[i];
        const double z = 1.0 / P2, a = P0 * z, b = P1 * z;
        const double s = a * a + b * b, L = 1.0 + s * (k1 + k2 * s), slope = 2.0 * k1 + 4.0 * k2 * s;
        const double wf = w * f, wfz = wf * z, cross = wfz * slope * a * b;
#define ROW(o, g0, g1, at, centre, seen)                                                                         \
    do {                                                                                                         \
        const double g2 = -(g0 * a + g1 * b);                                                                    \
        const double n0 = Y1 * g2 - Y2 * g1, n1 = Y2 * g0 - Y0 * g2, n2 = Y0 * g1 - Y1 * g0;                     \
        const double gr = g0 * r0 + g1 * r1 + g2 * r2, Bgr = B * gr;                                             \
        const double along = dA * (r0 * n0 + r1 * n1 + r2 * n2) + dB * rY * gr - A * (g0 * Y0 + g1 * Y1 + g2 * Y2); \
        t[o][i] = along * r0 + A * n0 + Bgr * Y0 + BrY * g0;                                                    \
        t[o + 1][i] = along * r1 + A * n1 + Bgr * Y1 + BrY * g1;                                                \
        t[o + 2][i] = along * r2 + A * n2 + Bgr * Y2 + BrY * g2;                                                \
        t[o + 3][i] = c * g0 + A * (g1 * r2 - g2 * r1) + Bgr * r0;                                              \
        t[o + 4][i] = c * g1 + A * (g2 * r0 - g0 * r2) + Bgr * r1;                                              \
        t[o + 5][i] = c * g2 + A * (g0 * r1 - g1 * r0) + Bgr * r2;                                              \
        t[o + 6][i] = w * L * at;                                                                               \
        t[o + 7][i] = wf * s * at;                                                                              \
        t[o + 8][i] = wf * s * s * at;                                                                          \
        t[o + 9][i] = centre + f * L * at - seen;                                                               \
    } while (0)
        const double g0 = wfz * (L + slope * a * a), h1 = wfz * (L + slope * b * b);
        ROW(0, g0, cross, a, cameras[at + 7], observed[i * 2]);
        ROW(10, cross, h1, b, cameras[at + 8], observed[i * 2 + 1]);
#undef ROW
        t[20][i] = w;
        t[21][i] = 0.0;
        t[22][i] = -t[3][i], t[23][i] = -t[4][i], t[24][i] = -t[5][i];
        t[25][i] = -t[13][i], t[26][i] = -t[14][i], t[27][i] = -t[15][i];
    }
    transpose(t[0], t[1], t[2], t[22], t[23], t[24], t[6], t[20], out, 30);
    transpose(t[21], t[7], t[8], t[3], t[4], t[5], t[9], t[10], out + 8, 30);
    transpose(t[11], t[12], t[25], t[26], t[27], t[16], t[21], t[20], out + 16, 30);
    transpose(t[21], t[20], t[17], t[18], t[13], t[14], t[15], t[19], out + 22, 30);
}

int reprojectionJacobians(int64_t c, int64_t p, int64_t k, const double *restrict cameras, const double *restrict points, const double *restrict weights, const int64_t *restrict camera, const int64_t *restrict point, const double *restrict observed, double *restrict out, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    int outside = 0;
    for (int64_t i = 0; i < k; ++i) {
        outside |= ((uint64_t)camera[i] >= (uint64_t)c) | ((uint64_t)point[i] >= (uint64_t)p);
    }
    if (outside) {
        return 5;
    }
    int64_t i = 0;
    for (; i + LANES <= k; i += LANES) {
        eight(cameras, points, weights + i, camera + i, point + i, observed + i * 2, out + i * 30);
    }
    if (i < k) {
        double some_weights[LANES] = {0}, some_observed[LANES * 2] = {0}, results[LANES * 30];
        int64_t some_camera[LANES], some_point[LANES];
        for (int64_t j = 0; j < LANES; ++j) {
            some_camera[j] = camera[i + j < k ? i + j : i];
            some_point[j] = point[i + j < k ? i + j : i];
        }
        memcpy(some_weights, weights + i, (size_t)(k - i) * sizeof(double));
        memcpy(some_observed, observed + i * 2, (size_t)(k - i) * 2 * sizeof(double));
        eight(cameras, points, some_weights, some_camera, some_point, some_observed, results);
        memcpy(out + i * 30, results, (size_t)(k - i) * 30 * sizeof(double));
    }
    return 0;
}
