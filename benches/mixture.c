/* A block of points at a time, one in each lane: x - mean and Q (x - mean) are kept for all components, then each component's
   share of each point is known, and the backward pass goes through what was kept. */
enum { LANES = 32 };

/* p = scale softmax p */
static void softmax(int64_t k, double scale, double *restrict p)
{
    double top = p[0], sum = 0;
    for (int64_t j = 1; j < k; ++j) {
        top = p[j] > top ? p[j] : top;
    }
#pragma omp simd reduction(+ : sum)
    for (int64_t j = 0; j < k; ++j) {
        p[j] = exp(p[j] - top);
        sum += p[j];
    }
    for (int64_t j = 0; j < k; ++j) {
        p[j] *= scale / sum;
    }
}

size_t mixtureGradient_workspace(int64_t k, int64_t d, int64_t p, int64_t n)
{
    (void)p, (void)n;
    return (size_t)(k * d + k + 2 * k * d * LANES + k * LANES + d * LANES + d) * sizeof(double);
}

int mixtureGradient(int64_t k, int64_t d, int64_t p, int64_t n, const double *restrict alphas, const double *restrict means, const double *restrict icf, const double *restrict x, double gamma_, double m, double *restrict out_0, double *restrict out_1, double *restrict out_2, void *workspace, size_t bytes)
{
    (void)bytes;
    if (p < d * (d + 1) / 2) {
        return 1;
    }
    double *restrict diagonal = workspace;
    double *restrict sums = diagonal + k * d;
    double *restrict centred = sums + k;
    double *restrict made = centred + k * d * LANES;
    double *restrict shares = made + k * d * LANES;
    double *restrict points = shares + k * LANES;
    double *restrict back = points + d * LANES;
    const double g2 = gamma_ * gamma_;
    memcpy(out_0, alphas, (size_t)k * sizeof(double));
    softmax(k, -(double)n, out_0);
    memset(out_1, 0, (size_t)(k * d) * sizeof(double));
    for (int64_t j = 0; j < k; ++j) {
        const double *restrict q = icf + j * p;
        double sum = 0;
        for (int64_t r = 0; r < d; ++r) {
            const double e = exp(q[r]);
            diagonal[j * d + r] = e;
            sum += q[r];
            out_2[j * p + r] = g2 * e * e - m;
        }
        for (int64_t r = d; r < p; ++r) {
            out_2[j * p + r] = g2 * q[r];
        }
        sums[j] = alphas[j] + sum;
    }
    for (int64_t first = 0; first < n; first += LANES) {
        const int64_t count = n - first < LANES ? n - first : LANES;
        for (int64_t r = 0; r < d; ++r) {
            for (int64_t l = 0; l < LANES; ++l) {
                points[r * LANES + l] = x[(first + (l < count ? l : 0)) * d + r];
            }
        }
        for (int64_t j = 0; j < k; ++j) {
            double *restrict v = centred + j * d * LANES;
            double *restrict qv = made + j * d * LANES;
            double *restrict term = shares + j * LANES;
            for (int64_t r = 0; r < d; ++r) {
                const double mean = means[j * d + r], e = diagonal[j * d + r];
                for (int64_t l = 0; l < LANES; ++l) {
                    v[r * LANES + l] = points[r * LANES + l] - mean;
                    qv[r * LANES + l] = e * v[r * LANES + l];
                }
            }
            const double *restrict below = icf + j * p + d;
            for (int64_t c = 0; c < d; below += d - c - 1, ++c) {
                for (int64_t r = c + 1; r < d; ++r) {
                    const double q = below[r - c - 1];
                    for (int64_t l = 0; l < LANES; ++l) {
                        qv[r * LANES + l] += q * v[c * LANES + l];
                    }
                }
            }
            for (int64_t l = 0; l < LANES; ++l) {
                term[l] = sums[j];
            }
            for (int64_t r = 0; r < d; ++r) {
                for (int64_t l = 0; l < LANES; ++l) {
                    term[l] -= 0.5 * qv[r * LANES + l] * qv[r * LANES + l];
                }
            }
        }
        double top[LANES], sum[LANES] = {0};
        memcpy(top, shares, sizeof top);
        for (int64_t j = 1; j < k; ++j) {
            for (int64_t l = 0; l < LANES; ++l) {
                top[l] = shares[j * LANES + l] > top[l] ? shares[j * LANES + l] : top[l];
            }
        }
        for (int64_t j = 0; j < k; ++j) {
#pragma omp simd
            for (int64_t l = 0; l < LANES; ++l) {
                shares[j * LANES + l] = exp(shares[j * LANES + l] - top[l]);
                sum[l] += shares[j * LANES + l];
            }
        }
        for (int64_t l = 0; l < LANES; ++l) {
            sum[l] = l < count ? 1.0 / sum[l] : 0.0;
        }
        for (int64_t j = 0; j < k; ++j) {
            const double *restrict v = centred + j * d * LANES;
            double *restrict qv = made + j * d * LANES;
            double total = 0;
#pragma omp simd reduction(+ : total)
            for (int64_t l = 0; l < LANES; ++l) {
                shares[j * LANES + l] *= sum[l];
                total += shares[j * LANES + l];
            }
            out_0[j] += total;
            for (int64_t r = 0; r < d; ++r) {
                const double e = diagonal[j * d + r];
                double along = 0, across = 0;
#pragma omp simd reduction(+ : along, across)
                for (int64_t l = 0; l < LANES; ++l) {
                    qv[r * LANES + l] *= shares[j * LANES + l];
                    along += qv[r * LANES + l];
                    across += qv[r * LANES + l] * v[r * LANES + l];
                }
                out_1[j * d + r] += e * along;
                back[r] = along;
                out_2[j * p + r] += total - e * across;
            }
            const double *restrict below = icf + j * p + d;
            double *restrict g = out_2 + j * p + d;
            for (int64_t c = 0; c < d; below += d - c - 1, g += d - c - 1, ++c) {
                double mean = 0;
                for (int64_t r = c + 1; r < d; ++r) {
                    double s = 0;
#pragma omp simd reduction(+ : s)
                    for (int64_t l = 0; l < LANES; ++l) {
                        s += qv[r * LANES + l] * v[c * LANES + l];
                    }
                    g[r - c - 1] -= s;
                    mean += below[r - c - 1] * back[r];
                }
                out_1[j * d + c] += mean;
            }
        }
    }
    return 0;
}
