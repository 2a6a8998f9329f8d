/* Doubles: a NaN among the operands of min and max stays; at a tie, and of two zeros, the first. */

static inline double smooth_fmin(double a, double b)
{
    return a <= b || a != a ? a : b;
}

static inline double smooth_fmax(double a, double b)
{
    return a >= b || a != a ? a : b;
}

/* c ? a : b without a jump: a loop that calls vector functions runs in lanes only without */
static inline double smooth_select(bool c, double a, double b)
{
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    x = (x & (0 - (uint64_t)c)) | (y & ((uint64_t)c - 1));
    memcpy(&a, &x, sizeof a);
    return a;
}

static inline double smooth_sign(double x)
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : x != x ? x : 0.0;
}

/* 1 / (1 + exp(-x)): the exponential is of no positive number, so that it does not overflow */
static inline double smooth_sigmoid(double x)
{
    const double e = exp(-fabs(x));
    return (x >= 0.0 ? 1.0 : e) / (1.0 + e);
}

/* log(1 + exp(x)), by what it is beyond the larger of x and 0 */
static inline double smooth_softplus(double x)
{
    return (x > 0.0 ? x : 0.0) + log1p(exp(-fabs(x)));
}

static inline double smooth_lgamma(double x)
{
    return lgamma(x);
}

/* the (k+1)-th derivative of lgamma: recurrence up to x >= 10 + k, then the asymptotic series;
   a negative x by reflection for k = 0, by the recurrence otherwise */
static inline double smooth_polygamma(int64_t k, double x)
{
    const double bernoulli[12] = {1.0 / 6.0, -1.0 / 30.0, 1.0 / 42.0, -1.0 / 30.0, 5.0 / 66.0,
        -691.0 / 2730.0, 7.0 / 6.0, -3617.0 / 510.0, 43867.0 / 798.0, -174611.0 / 330.0, 854513.0 / 138.0,
        -236364091.0 / 2730.0};
    const double order = (double)k;
    double sum = 0.0;
    double factorial = 1.0;
    if (k < 0 || x != x) {
        return (double)NAN;
    }
    if (x <= 0.0 && floor(x) == x) {
        return k % 2 == 0 ? (double)NAN : (double)INFINITY;
    }
    if (k == 0 && x < 0.0) {
        const double pi = 3.14159265358979323846;
        return smooth_polygamma(0, 1.0 - x) - pi / tan(pi * x);
    }
    for (double j = 2.0; j <= order; j += 1.0) {
        factorial *= j;
    }
    if (x < -1.0e6) {
        return (double)NAN;
    }
    while (x < 10.0 + order) {
        sum += pow(x, -order - 1.0);
        x += 1.0;
    }
    if (k == 0) {
        double series = log(x) - 0.5 / x;
        double power = 1.0;
        for (int m = 0; m < 12; ++m) {
            power /= x * x;
            series -= bernoulli[m] / (2.0 * (double)(m + 1)) * power;
        }
        return series - sum;
    }
    {
        double series = factorial / order * pow(x, -order) + 0.5 * factorial * pow(x, -order - 1.0);
        double term = factorial;
        for (int m = 1; m <= 12; ++m) {
            const double two = 2.0 * (double)m;
            term = m == 1 ? factorial * (order + 1.0) / 2.0
                          : term * (two + order - 2.0) * (two + order - 1.0) / ((two - 1.0) * two);
            series += bernoulli[m - 1] * term * pow(x, -order - two);
        }
        series += factorial * sum;
        return k % 2 == 0 ? -series : series;
    }
}
