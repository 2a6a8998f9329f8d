/* Tiles of floats: sixteen rows of a matrix, column by column. */

/* sixteen rows from here on, of which so many columns are read; where fewer rows are left, a copy of
   them in which the last one stands again and again */
static inline const float *smooth_read_rowsf(const float *from, int64_t stride, int64_t columns, int64_t rows,
    float *copy)
{
    if (rows >= 16) {
        return from;
    }
    for (int64_t lane = 0; lane < 16; ++lane) {
        for (int64_t k = 0; k < columns; ++k) {
            copy[lane * stride + k] = from[smooth_imin(lane, rows - 1) * stride + k];
        }
    }
    return copy;
}

/* sixteen rows of indices from here on; where fewer are left, a copy of them in which the last one stands
   again and again */
static inline const int64_t *smooth_read_index_rowsf(const int64_t *from, int64_t stride, int64_t columns,
    int64_t rows, int64_t *copy)
{
    if (rows >= 16) {
        return from;
    }
    for (int64_t lane = 0; lane < 16; ++lane) {
        for (int64_t k = 0; k < columns; ++k) {
            copy[lane * stride + k] = from[smooth_imin(lane, rows - 1) * stride + k];
        }
    }
    return copy;
}

/* whether so many rows are more than caches hold: then they are written past these */
static inline bool smooth_outgrow_cachesf(int64_t rows, int64_t columns)
{
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX__)
#ifdef SMOOTH_CACHED_BYTES
    const int64_t bytes = SMOOTH_CACHED_BYTES;
#else
    const int64_t bytes = (int64_t)1 << 25;
#endif
    return columns >= 8 && rows > bytes / (columns * 4);
#else
    (void)rows;
    (void)columns;
    return false;
#endif
}

/* asks memory for the sixteen rows after these: the processor does not see a stream in such short pieces */
static inline void smooth_expect_rowsf(const float *rows, int64_t columns, bool large)
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

/* out[row * columns + k] = tile[k][row]; sixteen rows are transposed in registers, eight at a time,
   where those are long enough */
static inline void smooth_transposef(float (*tile)[16], int64_t columns, int64_t rows,
    float *SMOOTH_RESTRICT out)
{
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX__)
    if (rows == 16 && columns >= 8) {
        typedef float lanes __attribute__((vector_size(32), aligned(4)));
        typedef int32_t places __attribute__((vector_size(32)));
        const places even = {0, 8, 2, 10, 4, 12, 6, 14}, odd = {1, 9, 3, 11, 5, 13, 7, 15};
        const places first = {0, 1, 8, 9, 4, 5, 12, 13}, second = {2, 3, 10, 11, 6, 7, 14, 15};
        const places low = {0, 1, 2, 3, 8, 9, 10, 11}, high = {4, 5, 6, 7, 12, 13, 14, 15};
        for (int64_t row = 0; row < 16; row += 8) {
            float *const half = out + row * columns;
            for (int64_t k = 0; k < columns; k += 8) {
                /* the last eight columns overlap those before */
                const int64_t at = k + 8 <= columns ? k : columns - 8;
                lanes pairs[8], fours[8];
                for (int64_t j = 0; j < 8; j += 2) {
                    const lanes a = *(const lanes *)(tile[at + j] + row);
                    const lanes b = *(const lanes *)(tile[at + j + 1] + row);
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
                    *(lanes *)(half + j * columns + at) = __builtin_shuffle(fours[j], fours[j + 4], low);
                }
                for (int64_t j = 0; j < 4; ++j) {
                    lanes *const next = (lanes *)(half + (j + 4) * columns + at);
                    *next = __builtin_shuffle(fours[j], fours[j + 4], high);
                }
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
static inline void smooth_write_rowsf(float (*tile)[16], int64_t columns, int64_t rows,
    float *SMOOTH_RESTRICT out, bool large)
{
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX__)
    if (columns >= 8) {
        /* transposed in one place for all cases: then the tile itself stays in registers */
        float block[16 * 64];
        float *const to = large || rows < 16 ? block : out;
        smooth_transposef(tile, columns, 16, to);
        if (to == out) {
            return;
        }
        int64_t k = 0;
        if (large) {
            typedef float lanes __attribute__((vector_size(32), aligned(4)));
            for (; k < rows * columns && (uintptr_t)(out + k) % 64 != 0; ++k) {
                out[k] = block[k];
            }
            for (; k + 16 <= rows * columns; k += 16) {
                __builtin_ia32_movntps256(out + k, *(const lanes *)(block + k));
                __builtin_ia32_movntps256(out + k + 8, *(const lanes *)(block + k + 8));
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
    smooth_transposef(tile, columns, rows, out);
}

/* after large results: they are in memory before anything that is written later */
static inline void smooth_rows_writtenf(bool large)
{
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX__)
    if (large) {
        __builtin_ia32_sfence();
    }
#else
    (void)large;
#endif
}
