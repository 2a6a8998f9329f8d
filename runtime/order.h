#ifndef SMOOTH_KEEP_ORDER
#if defined(__GNUC__) && !defined(__clang__)
/* gcc 12 exchanges loops that write one element in several iterations: the last write would be another */
#define SMOOTH_KEEP_ORDER __asm__ __volatile__("" ::: "memory")
#else
#define SMOOTH_KEEP_ORDER ((void)0)
#endif
#endif
