/* Loops that threads share, where OpenMP is. SMOOTH_WORTH: the operations on numbers that are worth a thread.
   SMOOTH_PART: a function compiled once, so that no rounding depends on the number of parts. */
#ifndef SMOOTH_PARALLEL
#if defined(_OPENMP)
#include <omp.h>
#define SMOOTH_OPENMP(text) _Pragma(#text)
#define SMOOTH_PARALLEL(parts) SMOOTH_OPENMP(omp parallel for schedule(static, 1) num_threads((int)(parts)))
#define SMOOTH_PARALLEL_IN_ORDER(parts) \
    SMOOTH_OPENMP(omp parallel for ordered schedule(static, 1) num_threads((int)(parts)))
#define SMOOTH_IN_ORDER SMOOTH_OPENMP(omp ordered)
#if defined(__GNUC__) && !defined(__clang__)
#define SMOOTH_PART __attribute__((noinline, noclone))
#elif defined(__GNUC__)
#define SMOOTH_PART __attribute__((noinline))
#else
#define SMOOTH_PART
#endif
#else
#define SMOOTH_PART
#define SMOOTH_PARALLEL(parts)
#define SMOOTH_PARALLEL_IN_ORDER(parts)
#define SMOOTH_IN_ORDER
#endif
#endif
#ifndef SMOOTH_WORTH
#define SMOOTH_WORTH 50000.0
#endif
