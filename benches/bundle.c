/* The 2 x 15 Jacobian of each observation. A tile of observations is gathered into rows, computed with the observation as the
   inner loop (so that sin and cos are vector calls), then written out observation by observation.

   With Y = X - C, c = cos |r|, A = sin |r| / |r|, B = (1 - c) / |r|^2 the point before the camera is
       P = c Y + A r x Y + B (r.Y) r,
   and for a row g of the image's derivative in P
       g dP/dr = (-A g.Y + A' r.(Y x g) + B' (r.Y) (g.r)) r + A (Y x g) + B (g.r) Y + B (r.Y) g
       g dP/dX = c g + A (g x r) + B (g.r) r.
   Without rotation A = 1 and B = 0, which is what the program's other branch computes; it needs no branch here. */
#include <math.h>
#include <stdint.h>
#include <stddef.h>

/* Under names of their own: gcc makes one call of sincos of sin and cos of the same number, which has no vector form. */
#if defined(__GNUC__) && defined(__x86_64__) && defined(__GLIBC__)
__attribute__((simd("notinbranch"), const)) double vector_sin(double) __asm__("sin");
__attribute__((simd("notinbranch"), const)) double vector_cos(double) __asm__("cos");
#else
#define vector_sin sin
#define vector_cos cos
#endif

enum { TILE = 64, INPUTS = 17, OUTPUTS = 20 };

size_t reprojectionJacobians_workspace(int64_t c, int64_t p, int64_t k)
{
    (void)c, (void)p, (void)k;
    return 0;
}

static void compute(int64_t count, double (*restrict in)[TILE], double (*restrict to)[TILE])
{
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
        const double r0 = in[0][i], r1 = in[1][i], r2 = in[2][i];
        const double square = r0 * r0 + r1 * r1 + r2 * r2;
        const double none = square == 0.0 ? 1.0 : 0.0, inverse = 1.0 / (square + none);
        const double theta = sqrt(square), c = vector_cos(theta);
        const double A = vector_sin(theta) * theta * inverse + none, B = (1.0 - c) * inverse;
        const double dA = (c - A) * inverse, dB = (A - 2.0 * B) * inverse;
        const double Y0 = in[11][i] - in[3][i], Y1 = in[12][i] - in[4][i], Y2 = in[13][i] - in[5][i];
        const double rY = r0 * Y0 + r1 * Y1 + r2 * Y2, BrY = B * rY;
        const double P0 = c * Y0 + A * (r1 * Y2 - r2 * Y1) + BrY * r0;
        const double P1 = c * Y1 + A * (r2 * Y0 - r0 * Y2) + BrY * r1;
        const double P2 = c * Y2 + A * (r0 * Y1 - r1 * Y0) + BrY * r2;
        const double f = in[6][i], k1 = in[9][i], k2 = in[10][i], w = in[14][i];
        const double z = 1.0 / P2, a = P0 * z, b = P1 * z;
        const double s = a * a + b * b, L = 1.0 + s * (k1 + k2 * s), slope = 2.0 * k1 + 4.0 * k2 * s;
        const double wf = w * f, wfz = wf * z, cross = wfz * slope * a * b;
#define ROW(o, g0, g1, at, centre, seen)                                                                         \
    do {                                                                                                         \
        const double g2 = -(g0 * a + g1 * b);                                                                    \
        const double n0 = Y1 * g2 - Y2 * g1, n1 = Y2 * g0 - Y0 * g2, n2 = Y0 * g1 - Y1 * g0;                     \
        const double gr = g0 * r0 + g1 * r1 + g2 * r2, Bgr = B * gr;                                             \
        const double along = dA * (r0 * n0 + r1 * n1 + r2 * n2) + dB * rY * gr - A * (g0 * Y0 + g1 * Y1 + g2 * Y2); \
        to[o][i] = along * r0 + A * n0 + Bgr * Y0 + BrY * g0;                                                    \
        to[o + 1][i] = along * r1 + A * n1 + Bgr * Y1 + BrY * g1;                                                \
        to[o + 2][i] = along * r2 + A * n2 + Bgr * Y2 + BrY * g2;                                                \
        to[o + 3][i] = c * g0 + A * (g1 * r2 - g2 * r1) + Bgr * r0;                                              \
        to[o + 4][i] = c * g1 + A * (g2 * r0 - g0 * r2) + Bgr * r1;                                              \
        to[o + 5][i] = c * g2 + A * (g0 * r1 - g1 * r0) + Bgr * r2;                                              \
        to[o + 6][i] = w * L * at;                                                                               \
        to[o + 7][i] = wf * s * at;                                                                              \
        to[o + 8][i] = wf * s * s * at;                                                                          \
        to[o + 9][i] = centre + f * L * at - seen;                                                               \
    } while (0)
        const double g0 = wfz * (L + slope * a * a), h1 = wfz * (L + slope * b * b);
        ROW(0, g0, cross, a, in[7][i], in[15][i]);
        ROW(10, cross, h1, b, in[8][i], in[16][i]);
#undef ROW
    }
}

int reprojectionJacobians(int64_t c, int64_t p, int64_t k, const double *restrict cameras, const double *restrict points, const double *restrict weights, const int64_t *restrict camera, const int64_t *restrict point, const double *restrict observed, double *restrict out, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    double in[INPUTS][TILE], to[OUTPUTS][TILE];
    for (int64_t start = 0; start < k; start += TILE) {
        const int64_t count = k - start < TILE ? k - start : TILE;
        int outside = 0;
        for (int64_t i = 0; i < count; ++i) {
            outside |= ((uint64_t)camera[start + i] >= (uint64_t)c) | ((uint64_t)point[start + i] >= (uint64_t)p);
        }
        if (outside) {
            return 5;
        }
        for (int64_t i = 0; i < count; ++i) {
            const double *restrict from = cameras + camera[start + i] * 11, *restrict X = points + point[start + i] * 3;
            for (int j = 0; j < 11; ++j) {
                in[j][i] = from[j];
            }
            for (int j = 0; j < 3; ++j) {
                in[11 + j][i] = X[j];
            }
            in[14][i] = weights[start + i];
            in[15][i] = observed[(start + i) * 2];
            in[16][i] = observed[(start + i) * 2 + 1];
        }
        compute(count, in, to);
        for (int64_t i = 0; i < count; ++i) {
            for (int row = 0; row < 2; ++row) {
                double *restrict o = out + (start + i) * 30 + row * 15;
                double (*restrict from)[TILE] = to + row * 10;
                for (int j = 0; j < 3; ++j) {
                    o[j] = from[j][i];
                    o[3 + j] = -from[3 + j][i];
                    o[11 + j] = from[3 + j][i];
                }
                o[6] = from[6][i];
                o[7] = row == 0 ? in[14][i] : 0.0;
                o[8] = row == 0 ? 0.0 : in[14][i];
                o[9] = from[7][i];
                o[10] = from[8][i];
                o[14] = from[9][i];
            }
        }
    }
    return 0;
}
