/* Tiles: eight rows of a matrix, column by column. */

/* eight rows from here on, of which so many columns are read; where fewer rows are left, a copy of them
   in which the last one stands again and again */
static inline const double *smooth_read_rows(const double *from, int64_t stride, int64_t columns,
    int64_t rows, double *copy)
{
    if (rows >= 8) {
        return from;
    }
    for (int64_t lane = 0; lane < 8; ++lane) {
        for (int64_t k = 0; k < columns; ++k) {
            copy[lane * stride + k] = from[smooth_imin(lane, rows - 1) * stride + k];
        }
    }
    return copy;
}

/* eight rows of indices from here on; where fewer are left, a copy of them in which the last one stands
   again and again */
static inline const int64_t *smooth_read_index_rows(const int64_t *from, int64_t stride, int64_t columns,
    int64_t rows, int64_t *copy)
{
    if (rows >= 8) {
        return from;
    }
    for (int64_t lane = 0; lane < 8; ++lane) {
        for (int64_t k = 0; k < columns; ++k) {
            copy[lane * stride + k] = from[smooth_imin(lane, rows - 1) * stride + k];
        }
    }
    return copy;
}

/* whether so many rows are more than caches hold: then they are written past these */
static inline bool smooth_outgrow_caches(int64_t rows, int64_t columns)
{
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#ifdef SMOOTH_CACHED_BYTES
    const int64_t bytes = SMOOTH_CACHED_BYTES;
#else
    const int64_t bytes = (int64_t)1 << 25;
#endif
    return columns >= 8 && rows > bytes / (columns * 8);
#else
    (void)rows;
    (void)columns;
    return false;
#endif
}

/* asks memory for the eight rows after these: the processor does not see a stream in such short pieces */
static inline void smooth_expect_rows(const double *rows, int64_t columns, bool large)
{
#if defined(__GNUC__)
    for (int64_t k = 0; !large && k < columns; ++k) {
        __builtin_prefetch((const void *)((uintptr_t)rows + (uintptr_t)(columns + k) * 64), 1);
    }
#else
    (void)rows;
    (void)columns;
    (void)large;
#endif
}

/* out[row * columns + k] = tile[k][row]; eight rows are transposed in registers where those are long
   enough */
static inline void smooth_transpose(double (*tile)[8], int64_t columns, int64_t rows,
    double *SMOOTH_RESTRICT out)
{
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
    if (rows == 8 && columns >= 8) {
        typedef double lanes __attribute__((vector_size(64), aligned(8)));
        typedef int64_t places __attribute__((vector_size(64)));
        const places even = {0, 8, 2, 10, 4, 12, 6, 14}, odd = {1, 9, 3, 11, 5, 13, 7, 15};
        const places first = {0, 1, 8, 9, 4, 5, 12, 13}, second = {2, 3, 10, 11, 6, 7, 14, 15};
        const places low = {0, 1, 2, 3, 8, 9, 10, 11}, high = {4, 5, 6, 7, 12, 13, 14, 15};
        for (int64_t k = 0; k < columns; k += 8) {
            /* the last eight columns overlap those before */
            const int64_t at = k + 8 <= columns ? k : columns - 8;
            lanes pairs[8], fours[8];
            for (int64_t j = 0; j < 8; j += 2) {
                lanes a = *(const lanes *)tile[at + j], b = *(const lanes *)tile[at + j + 1];
                /* of a column that is constant gcc makes a shuffle of one operand, and that one wrong */
                __asm__("" : "+v"(a), "+v"(b));
                pairs[j] = __builtin_shuffle(a, b, even);
                pairs[j + 1] = __builtin_shuffle(a, b, odd);
            }
            for (int64_t j = 0; j < 8; j += 4) {
                fours[j] = __builtin_shuffle(pairs[j], pairs[j + 2], first);
                fours[j + 1] = __builtin_shuffle(pairs[j + 1], pairs[j + 3], first);
                fours[j + 2] = __builtin_shuffle(pairs[j], pairs[j + 2], second);
                fours[j + 3] = __builtin_shuffle(pairs[j + 1], pairs[j + 3], second);
            }
            /* one row after the other, as the memory has them */
            for (int64_t j = 0; j < 4; ++j) {
                *(lanes *)(out + j * columns + at) = __builtin_shuffle(fours[j], fours[j + 4], low);
            }
            for (int64_t j = 0; j < 4; ++j) {
                *(lanes *)(out + (j + 4) * columns + at) = __builtin_shuffle(fours[j], fours[j + 4], high);
            }
        }
        return;
    }
#elif defined(__GNUC__) && !defined(__clang__) && defined(__AVX__)
    if (rows == 8 && columns >= 4) {
        typedef double lanes __attribute__((vector_size(32), aligned(8)));
        typedef int64_t places __attribute__((vector_size(32)));
        const places even = {0, 4, 2, 6}, odd = {1, 5, 3, 7}, low = {0, 1, 4, 5}, high = {2, 3, 6, 7};
        for (int64_t k = 0; k < columns; k += 4) {
            /* the last four columns overlap those before */
            const int64_t at = k + 4 <= columns ? k : columns - 4;
            for (int64_t row = 0; row < 8; row += 4) {
                lanes a = *(const lanes *)(tile[at] + row), b = *(const lanes *)(tile[at + 1] + row);
                lanes c = *(const lanes *)(tile[at + 2] + row), d = *(const lanes *)(tile[at + 3] + row);
                __asm__("" : "+x"(a), "+x"(b), "+x"(c), "+x"(d)); /* as above */
                const lanes a_b = __builtin_shuffle(a, b, even), c_d = __builtin_shuffle(c, d, even);
                const lanes a_b_2 = __builtin_shuffle(a, b, odd), c_d_2 = __builtin_shuffle(c, d, odd);
                double *const to = out + row * columns + at;
                *(lanes *)to = __builtin_shuffle(a_b, c_d, low);
                *(lanes *)(to + columns) = __builtin_shuffle(a_b_2, c_d_2, low);
                *(lanes *)(to + 2 * columns) = __builtin_shuffle(a_b, c_d, high);
                *(lanes *)(to + 3 * columns) = __builtin_shuffle(a_b_2, c_d_2, high);
            }
        }
        return;
    }
#endif
    for (int64_t row = 0; row < rows; ++row) {
        for (int64_t k = 0; k < columns; ++k) {
            out[row * columns + k] = tile[k][row];
        }
    }
}

/* the rows of a tile to out; of large results whole lines of memory go past the caches, and nothing is read
   to be overwritten */
static inline void smooth_write_rows(double (*tile)[8], int64_t columns, int64_t rows,
    double *SMOOTH_RESTRICT out, bool large)
{
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
    if (columns >= 8) {
        /* transposed in one place for all cases: then the tile itself stays in registers */
        double block[8 * 64];
        double *const to = large || rows < 8 ? block : out;
        smooth_transpose(tile, columns, 8, to);
        if (to == out) {
            return;
        }
        int64_t k = 0;
        if (large) {
            typedef double lanes __attribute__((vector_size(64), aligned(8)));
            for (; k < rows * columns && (uintptr_t)(out + k) % 64 != 0; ++k) {
                out[k] = block[k];
            }
            for (; k + 8 <= rows * columns; k += 8) {
                __builtin_ia32_movntpd512(out + k, *(const lanes *)(block + k));
            }
        }
        for (; k < rows * columns; ++k) {
            out[k] = block[k];
        }
        return;
    }
#else
    (void)large;
#endif
    smooth_transpose(tile, columns, rows, out);
}

/* after large results: they are in memory before anything that is written later */
static inline void smooth_rows_written(bool large)
{
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
    if (large) {
        __builtin_ia32_sfence();
    }
#else
    (void)large;
#endif
}
