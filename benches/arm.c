/* The position of the end of seven joints and the geometric Jacobian, as in textbooks of robotics: one walk along the chain, which
   keeps the axis z and the origin p of each joint's frame; column i of the Jacobian is z_i x (end - p_i). What depends on the chain
   alone is computed once. */
#include <math.h>
#include <stdint.h>
#include <stddef.h>

enum { JOINTS = 7 };

struct link {
    double a, ca, sa, d;
};

static void links(const double *dh, struct link *chain)
{
    for (int i = 0; i < JOINTS; ++i) {
        chain[i] = (struct link){dh[i * 3], cos(dh[i * 3 + 1]), sin(dh[i * 3 + 1]), dh[i * 3 + 2]};
    }
}

static void pose(const struct link *chain, const double *restrict q, double *restrict end, double *restrict J)
{
    double x[3] = {1.0, 0.0, 0.0}, y[3] = {0.0, 1.0, 0.0}, z[3] = {0.0, 0.0, 1.0}, p[3] = {0.0, 0.0, 0.0};
    double axes[JOINTS][3], origins[JOINTS][3];
    for (int i = 0; i < JOINTS; ++i) {
        const double c = cos(q[i]), s = sin(q[i]);
        const double a = chain[i].a, ca = chain[i].ca, sa = chain[i].sa, d = chain[i].d;
        for (int k = 0; k < 3; ++k) {
            axes[i][k] = z[k], origins[i][k] = p[k];
            const double u = c * x[k] + s * y[k], v = c * y[k] - s * x[k];
            p[k] += a * u + d * z[k];
            x[k] = u, y[k] = ca * v + sa * z[k], z[k] = ca * z[k] - sa * v;
        }
    }
    for (int i = 0; i < JOINTS; ++i) {
        const double r0 = p[0] - origins[i][0], r1 = p[1] - origins[i][1], r2 = p[2] - origins[i][2];
        J[i] = axes[i][1] * r2 - axes[i][2] * r1;
        J[JOINTS + i] = axes[i][2] * r0 - axes[i][0] * r2;
        J[2 * JOINTS + i] = axes[i][0] * r1 - axes[i][1] * r0;
    }
    end[0] = p[0], end[1] = p[1], end[2] = p[2];
}

size_t armJacobians_workspace(int64_t n)
{
    (void)n;
    return 0;
}

int armJacobians(int64_t n, const double *restrict dh, const double *restrict poses, double *restrict ends, double *restrict J, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    struct link chain[JOINTS];
    links(dh, chain);
    for (int64_t k = 0; k < n; ++k) {
        pose(chain, poses + k * JOINTS, ends + k * 3, J + k * 3 * JOINTS);
    }
    return 0;
}

size_t armJacobian_workspace(void)
{
    return 0;
}

int armJacobian(const double *restrict dh, const double *restrict angles, double *restrict end, double *restrict J, void *workspace, size_t bytes)
{
    (void)workspace, (void)bytes;
    struct link chain[JOINTS];
    links(dh, chain);
    pose(chain, angles, end, J);
    return 0;
}
