#ifndef SMOOTH_RESTRICT
#if defined(_MSC_VER)
#define SMOOTH_RESTRICT __restrict
#elif defined(__cplusplus)
#define SMOOTH_RESTRICT __restrict__
#else
#define SMOOTH_RESTRICT restrict
#endif
#endif
