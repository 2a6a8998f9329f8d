/* What each step makes is kept, and the backward pass goes through it with products of 4 x 4 matrices. */

/* What is kept of a step. */
struct step {
    double x[4], P[4][4], M[4][4], Pp[4][4], K[4][2], inverse[2][2], y[2];
};

/* C += a B */
static inline void add_product(const double a[4][4], const double B[4][4], double C[4][4])
{
    for (int i = 0; i < 4; ++i) {
        for (int k = 0; k < 4; ++k) {
            for (int j = 0; j < 4; ++j) {
                C[i][j] += a[i][k] * B[k][j];
            }
        }
    }
}

/* b = aᵀ */
static inline void turn(const double a[4][4], double b[4][4])
{
    for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) {
            b[j][i] = a[i][j];
        }
    }
}

size_t kalmanGradient_workspace(int64_t n)
{
    return (size_t)n * sizeof(struct step);
}

int kalmanGradient(int64_t n, const double *restrict F_, const double *restrict q, const double *restrict r, const double *restrict seen, double *restrict out_0, double *restrict out_1, double *restrict out_2, void *workspace, size_t bytes)
{
    (void)bytes;
    struct step *restrict kept = workspace;
    double F[4][4], FT[4][4], x[4] = {0}, P[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
    memcpy(F, F_, sizeof F);
    turn(F, FT);
    for (int64_t t = 0; t < n; ++t) {
        struct step *restrict s = kept + t;
        memcpy(s->x, x, sizeof x);
        memcpy(s->P, P, sizeof P);
        double xp[4] = {0}, M[4][4] = {{0}}, Pp[4][4] = {{0}};
        for (int k = 0; k < 4; ++k) {
            for (int i = 0; i < 4; ++i) {
                xp[i] += FT[k][i] * x[k];
            }
            Pp[k][k] = q[k];
        }
        add_product(F, P, M);
        add_product(M, FT, Pp);
        const double y0 = seen[2 * t] - xp[0], y1 = seen[2 * t + 1] - xp[1];
        const double a = Pp[0][0] + r[0], b = Pp[0][1], d = Pp[1][1] + r[1], c = 1.0 / (a * d - b * b);
        const double i00 = d * c, i01 = -b * c, i11 = a * c;
        for (int i = 0; i < 4; ++i) {
            const double k0 = Pp[i][0] * i00 + Pp[i][1] * i01, k1 = Pp[i][0] * i01 + Pp[i][1] * i11;
            s->K[i][0] = k0;
            s->K[i][1] = k1;
            x[i] = xp[i] + k0 * y0 + k1 * y1;
            for (int j = 0; j < 4; ++j) {
                P[i][j] = Pp[i][j] - k0 * Pp[0][j] - k1 * Pp[1][j];
            }
        }
        memcpy(s->M, M, sizeof M);
        memcpy(s->Pp, Pp, sizeof Pp);
        s->inverse[0][0] = i00;
        s->inverse[0][1] = s->inverse[1][0] = i01;
        s->inverse[1][1] = i11;
        s->y[0] = y0;
        s->y[1] = y1;
    }
    double gF[4][4] = {{0}}, gq[4] = {0}, gr[2] = {0}, gx[4] = {0}, gP[4][4] = {{0}};
    for (int64_t t = n - 1; t >= 0; --t) {
        const struct step *restrict s = kept + t;
        double gK[4][2], gy[2] = {0}, gi[2][2], gPp[4][4];
        memcpy(gPp, gP, sizeof gP);
        for (int j = 0; j < 2; ++j) {
            for (int i = 0; i < 4; ++i) {
                double sum = gx[i] * s->y[j];
                for (int c = 0; c < 4; ++c) {
                    sum -= gP[i][c] * s->Pp[j][c];
                }
                gK[i][j] = sum;
                gy[j] += s->K[i][j] * gx[i];
            }
            for (int i = 0; i < 4; ++i) {
                for (int c = 0; c < 4; ++c) {
                    gPp[j][c] -= s->K[i][j] * gP[i][c];
                }
            }
            gy[j] -= s->inverse[j][0] * s->y[0] + s->inverse[j][1] * s->y[1];
        }
        for (int i = 0; i < 2; ++i) {
            for (int j = 0; j < 2; ++j) {
                gi[i][j] = -0.5 * s->y[i] * s->y[j];
                for (int k = 0; k < 4; ++k) {
                    gi[i][j] += s->Pp[k][i] * gK[k][j];
                }
            }
        }
        for (int i = 0; i < 4; ++i) {
            for (int j = 0; j < 2; ++j) {
                gPp[i][j] += gK[i][0] * s->inverse[j][0] + gK[i][1] * s->inverse[j][1];
            }
        }
        double gS[2][2];
        for (int i = 0; i < 2; ++i) {
            const double u = s->inverse[i][0] * gi[0][0] + s->inverse[i][1] * gi[1][0];
            const double v = s->inverse[i][0] * gi[0][1] + s->inverse[i][1] * gi[1][1];
            for (int j = 0; j < 2; ++j) {
                gS[i][j] = -0.5 * s->inverse[i][j] - u * s->inverse[0][j] - v * s->inverse[1][j];
            }
        }
        gr[0] += gS[0][0];
        gr[1] += gS[1][1];
        gPp[0][0] += gS[0][0];
        gPp[0][1] += gS[0][1] + gS[1][0];
        gPp[1][1] += gS[1][1];
        gx[0] -= gy[0];
        gx[1] -= gy[1];
        double gM[4][4] = {{0}}, turned[4][4], before[4] = {0};
        add_product(gPp, F, gM);
        turn(gPp, turned);
        add_product(turned, s->M, gF);
        turn(s->P, turned);
        add_product(gM, turned, gF);
        memset(gP, 0, sizeof gP);
        add_product(FT, gM, gP);
        for (int i = 0; i < 4; ++i) {
            gq[i] += gPp[i][i];
            for (int j = 0; j < 4; ++j) {
                gF[i][j] += gx[i] * s->x[j];
                before[j] += F[i][j] * gx[i];
            }
        }
        memcpy(gx, before, sizeof gx);
    }
    memcpy(out_0, gF, sizeof gF);
    memcpy(out_1, gq, sizeof gq);
    memcpy(out_2, gr, sizeof gr);
    return 0;
}
