/* The bones' maps are mixed by the weights before they meet a vertex, as sums of rows of 12 numbers: a rotation with what it
   adds. So are their gradients. */

/* The rotation by three angles, row by row. */
static void rotation(const double *restrict angles, double *restrict R)
{
    const double sa = sin(angles[0]), ca = cos(angles[0]), sb = sin(angles[1]), cb = cos(angles[1]), sc = sin(angles[2]), cc = cos(angles[2]);
    const double turn[9] = {cb * cc, sa * sb * cc - ca * sc, ca * sb * cc + sa * sc, cb * sc, sa * sb * sc + ca * cc, ca * sb * sc - sa * cc, -sb, sa * cb, ca * cb};
    memcpy(R, turn, sizeof turn);
}

/* What the rotation R by these angles, worth g, makes the angles worth. */
static void rotation_back(const double *restrict angles, const double *restrict R, const double *restrict g, double *restrict worth)
{
    const double sa = sin(angles[0]), ca = cos(angles[0]), sb = sin(angles[1]), cb = cos(angles[1]), sc = sin(angles[2]), cc = cos(angles[2]);
    const double tilt[9] = {-sb * cc, sa * cb * cc, ca * cb * cc, -sb * sc, sa * cb * sc, ca * cb * sc, -cb, -sa * sb, -ca * sb};
    double a = 0, b = 0, c = 0;
    for (int i = 0; i < 3; ++i) {
        a += g[3 * i + 1] * R[3 * i + 2] - g[3 * i + 2] * R[3 * i + 1];
        c += g[3 + i] * R[i] - g[i] * R[3 + i];
    }
    for (int i = 0; i < 9; ++i) {
        b += g[i] * tilt[i];
    }
    worth[0] = a;
    worth[1] = b;
    worth[2] = c;
}

size_t handGradient_workspace(int64_t b, int64_t n)
{
    return (size_t)(12 * n + b * (9 + 9 + 3 + 12 + 12 + 9 + 3)) * sizeof(double);
}

int handGradient(int64_t b, int64_t n, const double *restrict angles, const double *restrict offsets, const double *restrict rest, const int64_t *restrict parents, const double *restrict skin, const double *restrict weights, const double *restrict seen, double *restrict out, void *workspace, size_t bytes)
{
    (void)bytes;
    double *restrict mixed = workspace;
    double *restrict turns = mixed + 12 * n;
    double *restrict turned = turns + 9 * b;
    double *restrict joints = turned + 9 * b;
    double *restrict maps = joints + 3 * b;
    double *restrict gmaps = maps + 12 * b;
    double *restrict gturned = gmaps + 12 * b;
    double *restrict gjoints = gturned + 9 * b;
    for (int64_t i = 0; i < b; ++i) {
        double *restrict turn = turns + 9 * i, *restrict R = turned + 9 * i, *restrict p = joints + 3 * i;
        rotation(angles + 3 * i, turn);
        memcpy(R, turn, 9 * sizeof(double));
        memcpy(p, offsets + 3 * i, 3 * sizeof(double));
        if (parents[i] < 0 || parents[i] >= b) {
            return 5;
        }
        if (i > 0) {
            const double *up = turned + 9 * parents[i], *from = joints + 3 * parents[i], *o = offsets + 3 * i;
            for (int r = 0; r < 3; ++r) {
                p[r] = from[r] + up[3 * r] * o[0] + up[3 * r + 1] * o[1] + up[3 * r + 2] * o[2];
                for (int c = 0; c < 3; ++c) {
                    R[3 * r + c] = up[3 * r] * turn[c] + up[3 * r + 1] * turn[3 + c] + up[3 * r + 2] * turn[6 + c];
                }
            }
        }
        const double *at = rest + 3 * i;
        for (int r = 0; r < 3; ++r) {
            memcpy(maps + 12 * i + 4 * r, R + 3 * r, 3 * sizeof(double));
            maps[12 * i + 4 * r + 3] = p[r] - R[3 * r] * at[0] - R[3 * r + 1] * at[1] - R[3 * r + 2] * at[2];
        }
    }
    memset(mixed, 0, (size_t)(12 * n) * sizeof(double));
    for (int64_t v = 0; v < n; ++v) {
        double *restrict m = mixed + 12 * v;
        const double x[4] = {skin[3 * v], skin[3 * v + 1], skin[3 * v + 2], 1.0};
        add_rows(b, 12, 1.0, weights + v * b, 1, maps, 12, m);
        for (int r = 0; r < 3; ++r) {
            const double g = 2.0 * (m[4 * r] * x[0] + m[4 * r + 1] * x[1] + m[4 * r + 2] * x[2] + m[4 * r + 3] - seen[3 * v + r]);
            for (int c = 0; c < 4; ++c) {
                m[4 * r + c] = g * x[c];
            }
        }
    }
    memset(gmaps, 0, (size_t)(12 * b) * sizeof(double));
    for (int64_t i = 0; i < b; ++i) {
        double *restrict g = gmaps + 12 * i;
        add_rows(n, 12, 1.0, weights + i, b, mixed, 12, g);
        for (int r = 0; r < 3; ++r) {
            gjoints[3 * i + r] = g[4 * r + 3];
            for (int c = 0; c < 3; ++c) {
                gturned[9 * i + 3 * r + c] = g[4 * r + c] - g[4 * r + 3] * rest[3 * i + c];
            }
        }
    }
    for (int64_t i = b - 1; i > 0; --i) {
        const double *turn = turns + 9 * i, *g = gturned + 9 * i, *gp = gjoints + 3 * i, *up = turned + 9 * parents[i];
        double *gup = gturned + 9 * parents[i], gturn[9];
        for (int r = 0; r < 3; ++r) {
            gjoints[3 * parents[i] + r] += gp[r];
            for (int c = 0; c < 3; ++c) {
                gturn[3 * r + c] = up[r] * g[c] + up[3 + r] * g[3 + c] + up[6 + r] * g[6 + c];
                gup[3 * r + c] += g[3 * r] * turn[3 * c] + g[3 * r + 1] * turn[3 * c + 1] + g[3 * r + 2] * turn[3 * c + 2] + gp[r] * offsets[3 * i + c];
            }
        }
        rotation_back(angles + 3 * i, turn, gturn, out + 3 * i);
    }
    rotation_back(angles, turns, gturned, out);
    return 0;
}
