/* Calls compiled entries as told on standard input, each array in a block of its exact size, and writes
   status and results: numbers are 8 bytes, arrays a count of bytes and the bytes. Put after `harness_table`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* POSIX; a program that hangs is a failure */
extern unsigned alarm(unsigned seconds);

#if defined(_OPENMP)
#include <omp.h>
#define HARNESS_THREADS(count) omp_set_num_threads(count)
#else
#define HARNESS_THREADS(count) (void)0
#endif

static int64_t harness_number(void)
{
    int64_t value;
    if (fread(&value, 8, 1, stdin) != 1) {
        exit(99);
    }
    return value;
}

static void *harness_block(size_t bytes)
{
    void *data = bytes == 0 ? NULL : malloc(bytes);
    if (bytes != 0 && data == NULL) {
        exit(98);
    }
    return data;
}

static void harness_put(int64_t value)
{
    fwrite(&value, 8, 1, stdout);
}

int main(void)
{
    alarm(600);
    for (int64_t calls = harness_number(); calls > 0; --calls) {
        int64_t entry = harness_number();
        int64_t ints = harness_number();
        int64_t *integers = (int64_t *)harness_block(8 * (size_t)ints + 8);
        for (int64_t k = 0; k < ints; ++k) {
            integers[k] = harness_number();
        }
        int64_t doubles = harness_number();
        double *reals = (double *)harness_block(8 * (size_t)doubles + 8);
        for (int64_t k = 0; k < doubles; ++k) {
            int64_t bits = harness_number();
            memcpy(&reals[k], &bits, 8);
        }
        int64_t inputs = harness_number();
        int64_t outputs = harness_number();
        void **arrays = (void **)harness_block(8 * (size_t)(inputs + outputs) + 8);
        size_t *sizes = (size_t *)harness_block(8 * (size_t)(inputs + outputs) + 8);
        for (int64_t k = 0; k < inputs + outputs; ++k) {
            sizes[k] = (size_t)harness_number();
            arrays[k] = harness_block(sizes[k]);
            if (k < inputs && sizes[k] != 0 && fread(arrays[k], 1, sizes[k], stdin) != sizes[k]) {
                exit(97);
            }
            if (k >= inputs && sizes[k] != 0) {
                memset(arrays[k], 0xA5, sizes[k]);
            }
        }
        HARNESS_THREADS(1);
        size_t least = harness_table[entry].workspace(integers);
        HARNESS_THREADS(3);
        size_t bytes = harness_table[entry].workspace(integers);
        int status = 100; /* does not fit */
        int short_status = 6;
        if (bytes <= ((size_t)1 << 32)) {
            void *workspace = harness_block(least);
            if (least != 0) {
                memset(workspace, 0xA5, least);
                short_status = harness_table[entry].call(integers, reals, arrays, workspace, least - 1);
            }
            /* what one thread needs is enough for any number */
            status = harness_table[entry].call(integers, reals, arrays, workspace, least);
            free(workspace);
            if (bytes != least) {
                workspace = harness_block(bytes);
                int again = harness_table[entry].call(integers, reals, arrays, workspace, bytes);
                short_status = again == status ? short_status : again;
                free(workspace);
            }
        }
        harness_put(status);
        harness_put(short_status);
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
