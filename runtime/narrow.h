/* before functions whose loops write rows of a few columns: gcc 12 gets such loops wrong in vectors of
   512 bits */
#ifndef SMOOTH_NARROW
#if defined(__GNUC__) && !defined(__clang__) && defined(__AVX512F__)
#define SMOOTH_NARROW __attribute__((target("prefer-vector-width=256")))
#else
#define SMOOTH_NARROW
#endif
#endif
