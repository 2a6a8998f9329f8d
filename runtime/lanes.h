#ifndef SMOOTH_LANES
#if defined(SMOOTH_SIMD) || defined(_OPENMP)
#define SMOOTH_PRAGMA(text) _Pragma(#text)
#define SMOOTH_LANES SMOOTH_PRAGMA(omp simd)
#define SMOOTH_LANES_SUM(...) SMOOTH_PRAGMA(omp simd reduction(+ : __VA_ARGS__))
#else
#define SMOOTH_LANES
#define SMOOTH_LANES_SUM(...)
#endif
#endif
