/* The 3 x 7 Jacobians of p + 2 w (a x p) + 2 a x (a x p) in (w, a, p). With the identities for double cross products they are
       d/dw   = 2 (a x p)
       d/da_k = 2 (w (e_k x p) + (a.p) e_k + p_k a - 2 a_k p)
       d/dp   = (1 - 2 a.a) I + 2 w [a]x + 2 a a^T
   A tile of points is computed with the point as the inner loop, then written out point by point. */
#include <stdint.h>
#include <stddef.h>

enum { TILE = 64 };

size_t rotationJacobians_workspace(int64_t n)
{
    (void)n;
    return 0;
}

static inline void one(const double *restrict q, const double *restrict p, double *restrict t)
{
    const double w = 2.0 * q[0], x = q[1], y = q[2], z = q[3];
    const double X = p[0], Y = p[1], Z = p[2];
    const double x2 = 2.0 * x, y2 = 2.0 * y, z2 = 2.0 * z;
    const double dot = x2 * X + y2 * Y + z2 * Z;
    const double wX = w * X, wY = w * Y, wZ = w * Z, wx = w * x, wy = w * y, wz = w * z;
    const double xX = x2 * X, yY = y2 * Y, zZ = z2 * Z;
    const double xY = x2 * Y, xZ = x2 * Z, yX = y2 * X, yZ = y2 * Z, zX = z2 * X, zY = z2 * Y;
    const double xy = x2 * y, xz = x2 * z, yz = y2 * z;
    const double xx = x2 * x, yy = y2 * y, zz = z2 * z;
    t[0 * TILE] = yZ - zY;
    t[1 * TILE] = dot - xX;
    t[2 * TILE] = wZ + xY - 2.0 * yX;
    t[3 * TILE] = xZ - wY - 2.0 * zX;
    t[4 * TILE] = 1.0 - yy - zz;
    t[5 * TILE] = xy - wz;
    t[6 * TILE] = xz + wy;
    t[7 * TILE] = zX - xZ;
    t[8 * TILE] = yX - wZ - 2.0 * xY;
    t[9 * TILE] = dot - yY;
    t[10 * TILE] = wX + yZ - 2.0 * zY;
    t[11 * TILE] = xy + wz;
    t[12 * TILE] = 1.0 - xx - zz;
    t[13 * TILE] = yz - wx;
    t[14 * TILE] = xY - yX;
    t[15 * TILE] = wY + zX - 2.0 * xZ;
    t[16 * TILE] = zY - wX - 2.0 * yZ;
    t[17 * TILE] = dot - zZ;
    t[18 * TILE] = xz - wy;
    t[19 * TILE] = yz + wx;
    t[20 * TILE] = 1.0 - xx - yy;
}

int rotationJacobians(int64_t n, const double *restrict q, const double *restrict p, double *restrict out, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    double tile[21 * TILE];
    for (int64_t start = 0; start < n; start += TILE) {
        const int64_t count = n - start < TILE ? n - start : TILE;
#pragma omp simd
        for (int64_t i = 0; i < count; ++i) {
            one(q + (start + i) * 4, p + (start + i) * 3, tile + i);
        }
        for (int64_t i = 0; i < count; ++i) {
            double *restrict o = out + (start + i) * 21;
            for (int64_t k = 0; k < 21; ++k) {
                o[k] = tile[k * TILE + i];
            }
        }
    }
    return 0;
}
