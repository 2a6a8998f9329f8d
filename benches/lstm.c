/* Back-propagation through time: the gates of all steps are kept. The gradient in what is predicted is made in the forward pass. */

/* What is kept of a layer at a step, b numbers each; the hidden state and the memory are those after the step. */
enum { FORGET, IN, OUT, CHANGE, CELL, TANH, HIDDEN, KEPT };

static void layer(int64_t b, const double *restrict w, const double *restrict v, const double *hidden, const double *cell, const double *input, double *restrict kept)
{
#pragma omp simd
    for (int64_t i = 0; i < b; ++i) {
        const double forget = 1.0 / (1.0 + exp(-(input[i] * w[i] + v[i])));
        const double in = 1.0 / (1.0 + exp(-(hidden[i] * w[b + i] + v[b + i])));
        const double out = 1.0 / (1.0 + exp(-(input[i] * w[2 * b + i] + v[2 * b + i])));
        const double change = tanh(hidden[i] * w[3 * b + i] + v[3 * b + i]);
        const double c = cell[i] * forget + in * change;
        const double t = tanh(c);
        kept[FORGET * b + i] = forget;
        kept[IN * b + i] = in;
        kept[OUT * b + i] = out;
        kept[CHANGE * b + i] = change;
        kept[CELL * b + i] = c;
        kept[TANH * b + i] = t;
        kept[HIDDEN * b + i] = out * t;
    }
}

/* gh and gc are what the states after the step are worth; after, what those before are. gx is what the input is worth. */
static void layer_back(int64_t b, const double *restrict w, const double *hidden, const double *cell, const double *input, const double *restrict kept, double *restrict gh, double *restrict gc, double *restrict gx, double *restrict gw, double *restrict gv)
{
#pragma omp simd
    for (int64_t i = 0; i < b; ++i) {
        const double forget = kept[FORGET * b + i], in = kept[IN * b + i], out = kept[OUT * b + i], change = kept[CHANGE * b + i], t = kept[TANH * b + i];
        const double c = gc[i] + gh[i] * out * (1.0 - t * t);
        const double zf = c * cell[i] * forget * (1.0 - forget);
        const double zi = c * change * in * (1.0 - in);
        const double zo = gh[i] * t * out * (1.0 - out);
        const double zg = c * in * (1.0 - change * change);
        gw[i] += zf * input[i];
        gw[b + i] += zi * hidden[i];
        gw[2 * b + i] += zo * input[i];
        gw[3 * b + i] += zg * hidden[i];
        gv[i] += zf;
        gv[b + i] += zi;
        gv[2 * b + i] += zo;
        gv[3 * b + i] += zg;
        gx[i] = zf * w[i] + zo * w[2 * b + i];
        gh[i] = zi * w[b + i] + zg * w[3 * b + i];
        gc[i] = c * forget;
    }
}

size_t lstmGradient_workspace(int64_t b, int64_t c)
{
    return (size_t)(c * (2 * KEPT + 2) * b + 6 * b) * sizeof(double);
}

int lstmGradient(int64_t b, int64_t c, const double *restrict w1, const double *restrict v1, const double *restrict w2, const double *restrict v2, const double *restrict extra, const double *restrict start, const double *restrict sequence, double *restrict out_0, double *restrict out_1, double *restrict out_2, double *restrict out_3, double *restrict out_4, void *workspace, size_t bytes)
{
    (void)bytes;
    double *restrict first = workspace;
    double *restrict second = first + c * KEPT * b;
    double *restrict inputs = second + c * KEPT * b;
    double *restrict gy = inputs + c * b;
    double *restrict g = gy + c * b;
    double *gh1 = g, *gc1 = g + b, *gh2 = g + 2 * b, *gc2 = g + 3 * b, *gx2 = g + 4 * b, *gx1 = g + 5 * b;
    const double scale = -1.0 / (double)((c - 1) * b);
    for (int64_t t = 0; t < c - 1; ++t) {
        double *restrict kept1 = first + t * KEPT * b, *restrict kept2 = second + t * KEPT * b;
        double *restrict x = inputs + t * b, *restrict y = gy + t * b;
        const double *next = sequence + (t + 1) * b;
        for (int64_t i = 0; i < b; ++i) {
            x[i] = sequence[t * b + i] * extra[i];
        }
        layer(b, w1, v1, t == 0 ? start : kept1 + (HIDDEN - KEPT) * b, t == 0 ? start + b : kept1 + (CELL - KEPT) * b, x, kept1);
        layer(b, w2, v2, t == 0 ? start + 2 * b : kept2 + (HIDDEN - KEPT) * b, t == 0 ? start + 3 * b : kept2 + (CELL - KEPT) * b, kept1 + HIDDEN * b, kept2);
        double sum = 2.0, total = 0;
#pragma omp simd reduction(+ : sum, total)
        for (int64_t i = 0; i < b; ++i) {
            y[i] = exp(kept2[HIDDEN * b + i] * extra[b + i] + extra[2 * b + i]);
            sum += y[i];
            total += next[i];
        }
        const double share = total / sum;
        for (int64_t i = 0; i < b; ++i) {
            y[i] = scale * (next[i] - share * y[i]);
        }
    }
    const size_t size = (size_t)(4 * b) * sizeof(double);
    memset(g, 0, size);
    memset(out_0, 0, size);
    memset(out_1, 0, size);
    memset(out_2, 0, size);
    memset(out_3, 0, size);
    memset(out_4, 0, (size_t)(3 * b) * sizeof(double));
    for (int64_t t = c - 2; t >= 0; --t) {
        const double *kept1 = first + t * KEPT * b, *kept2 = second + t * KEPT * b, *y = gy + t * b;
        for (int64_t i = 0; i < b; ++i) {
            out_4[b + i] += y[i] * kept2[HIDDEN * b + i];
            out_4[2 * b + i] += y[i];
            gh2[i] += y[i] * extra[b + i];
        }
        layer_back(b, w2, t == 0 ? start + 2 * b : kept2 + (HIDDEN - KEPT) * b, t == 0 ? start + 3 * b : kept2 + (CELL - KEPT) * b, kept1 + HIDDEN * b, kept2, gh2, gc2, gx2, out_2, out_3);
        for (int64_t i = 0; i < b; ++i) {
            gh1[i] += gx2[i];
        }
        layer_back(b, w1, t == 0 ? start : kept1 + (HIDDEN - KEPT) * b, t == 0 ? start + b : kept1 + (CELL - KEPT) * b, inputs + t * b, kept1, gh1, gc1, gx1, out_0, out_1);
        for (int64_t i = 0; i < b; ++i) {
            out_4[i] += gx1[i] * sequence[t * b + i];
        }
    }
    return 0;
}
