/* The gradients of log determinants from the inverse. By elimination: P A = L U eight columns at a time, rows swapped in place;
   then the transposed inverse Pᵀ L⁻ᵀ U⁻ᵀ by substitution, row by row. By Cholesky's factor: A = Uᵀ U row by row, then
   M = U⁻ᵀ and the lower triangle of Mᵀ M. */
enum { BLOCK = 8 };

/* F = P A, factored in place into L below the diagonal and U; order[i] is the row of A that is in row i. */
static void factor(int64_t n, double *restrict F, int64_t *restrict order)
{
    for (int64_t first = 0; first < n; first += BLOCK) {
        const int64_t last = first + BLOCK < n ? first + BLOCK : n;
        for (int64_t k = first; k < last; ++k) {
            int64_t p = k;
            for (int64_t i = k + 1; i < n; ++i) {
                p = fabs(F[i * n + k]) > fabs(F[p * n + k]) ? i : p;
            }
            if (p != k) {
                for (int64_t j = 0; j < n; ++j) {
                    const double moved = F[p * n + j];
                    F[p * n + j] = F[k * n + j];
                    F[k * n + j] = moved;
                }
                const int64_t moved = order[p];
                order[p] = order[k];
                order[k] = moved;
            }
            const double r = 1.0 / F[k * n + k];
            for (int64_t i = k + 1; i < n; ++i) {
                const double l = F[i * n + k] *= r;
                for (int64_t j = k + 1; j < last; ++j) {
                    F[i * n + j] -= l * F[k * n + j];
                }
            }
        }
        for (int64_t k = first + 1; k < n; ++k) {
            const int64_t count = (k < last ? k : last) - first;
            add_rows(count, n - last, -1.0, F + k * n + first, 1, F + first * n + last, n, F + k * n + last);
        }
    }
}

/* M = U⁻ᵀ, lower triangular with zeros above, from the upper triangle of U. */
static void transposed_inverse(int64_t n, const double *restrict U, double *restrict M)
{
    memset(M, 0, (size_t)(n * n) * sizeof(double));
    for (int64_t i = 0; i < n; ++i) {
        double *restrict row = M + i * n;
        for (int64_t k = 0; k < i; k += BLOCK) {
            const int64_t count = i - k < BLOCK ? i - k : BLOCK;
            add_rows(count, k + count, -1.0, U + k * n + i, n, M + k * n, n, row);
        }
        row[i] = 1.0;
        const double r = 1.0 / U[i * n + i];
        for (int64_t j = 0; j <= i; ++j) {
            row[j] *= r;
        }
    }
}

size_t logDetGradient_workspace(int64_t n)
{
    return (size_t)(2 * n * n) * sizeof(double) + (size_t)n * sizeof(int64_t);
}

int logDetGradient(int64_t n, const double *restrict A, double *restrict out, void *workspace, size_t bytes)
{
    (void)bytes;
    double *restrict F = workspace;
    double *restrict M = F + n * n;
    int64_t *restrict order = (int64_t *)(M + n * n);
    memcpy(F, A, (size_t)(n * n) * sizeof(double));
    for (int64_t i = 0; i < n; ++i) {
        order[i] = i;
    }
    factor(n, F, order);
    transposed_inverse(n, F, M);
    for (int64_t i = n - 1; i >= 0; --i) {
        add_rows(n - 1 - i, n, -1.0, F + (i + 1) * n + i, n, M + (i + 1) * n, n, M + i * n);
        memcpy(out + order[i] * n, M + i * n, (size_t)n * sizeof(double));
    }
    return 0;
}

size_t choleskyLogDetGradient_workspace(int64_t n)
{
    return (size_t)(2 * n * n) * sizeof(double);
}

int choleskyLogDetGradient(int64_t n, const double *restrict A, double *restrict out, void *workspace, size_t bytes)
{
    (void)bytes;
    double *restrict U = workspace;
    double *restrict M = U + n * n;
    for (int64_t i = 0; i < n; ++i) {
        double *restrict row = U + i * n;
        for (int64_t j = i; j < n; ++j) {
            row[j] = A[j * n + i];
        }
        add_rows(i, n - i, -1.0, U + i, n, U + i, n, row + i);
        const double r = 1.0 / sqrt(row[i]);
        for (int64_t j = i; j < n; ++j) {
            row[j] *= r;
        }
    }
    transposed_inverse(n, U, M);
    memset(out, 0, (size_t)(n * n) * sizeof(double));
    for (int64_t i = 0; i < n; ++i) {
        add_rows(n - i, i + 1, 2.0, M + i * n + i, n, M + i * n, n, out + i * n);
        out[i * n + i] *= 0.5;
    }
    return 0;
}
