/* Calls compiled entries as told on standard input, each array in a block of its exact size, and writes
   status and results: numbers are 8 bytes, arrays a count of bytes and the bytes. Put after `table`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int64_t number(void)
{
    int64_t value;
    if (fread(&value, 8, 1, stdin) != 1) {
        exit(99);
    }
    return value;
}

static void *block(size_t bytes)
{
    void *data = bytes == 0 ? NULL : malloc(bytes);
    if (bytes != 0 && data == NULL) {
        exit(98);
    }
    return data;
}

static void put(int64_t value)
{
    fwrite(&value, 8, 1, stdout);
}

int main(void)
{
    for (int64_t calls = number(); calls > 0; --calls) {
        int64_t entry = number();
        int64_t ints = number();
        int64_t *integers = (int64_t *)block(8 * (size_t)ints + 8);
        for (int64_t k = 0; k < ints; ++k) {
            integers[k] = number();
        }
        int64_t doubles = number();
        double *reals = (double *)block(8 * (size_t)doubles + 8);
        for (int64_t k = 0; k < doubles; ++k) {
            int64_t bits = number();
            memcpy(&reals[k], &bits, 8);
        }
        int64_t inputs = number();
        int64_t outputs = number();
        void **arrays = (void **)block(8 * (size_t)(inputs + outputs) + 8);
        size_t *sizes = (size_t *)block(8 * (size_t)(inputs + outputs) + 8);
        for (int64_t k = 0; k < inputs + outputs; ++k) {
            sizes[k] = (size_t)number();
            arrays[k] = block(sizes[k]);
            if (k < inputs && sizes[k] != 0 && fread(arrays[k], 1, sizes[k], stdin) != sizes[k]) {
                exit(97);
            }
            if (k >= inputs && sizes[k] != 0) {
                memset(arrays[k], 0xA5, sizes[k]);
            }
        }
        size_t bytes = table[entry].workspace(integers);
        int status = 100; /* does not fit */
        int short_status = 6;
        if (bytes <= ((size_t)1 << 32)) {
            void *workspace = block(bytes);
            if (bytes != 0) {
                memset(workspace, 0xA5, bytes);
                short_status = table[entry].call(integers, reals, arrays, workspace, bytes - 1);
            }
            status = table[entry].call(integers, reals, arrays, workspace, bytes);
            free(workspace);
        }
        put(status);
        put(short_status);
        for (int64_t k = 0; k < inputs + outputs; ++k) {
            if (k >= inputs && sizes[k] != 0) {
                fwrite(arrays[k], 1, sizes[k], stdout);
            }
            free(arrays[k]);
        }
        fflush(stdout);
        free(arrays);
        free(sizes);
        free(reals);
        free(integers);
    }
    return 0;
}
