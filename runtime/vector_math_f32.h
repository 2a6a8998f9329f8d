/* These run in vector lanes where libmvec is. */
#ifndef SMOOTH_VECTOR_MATH_F32
#define SMOOTH_VECTOR_MATH_F32
#if defined(SMOOTH_SIMD) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    defined(__GLIBC__) && !defined(__cplusplus)
__attribute__((simd("notinbranch"), const)) float expf(float);
__attribute__((simd("notinbranch"), const)) float logf(float);
__attribute__((simd("notinbranch"), const)) float powf(float, float);
/* names of their own: of sin and cos of one number the compiler would make one call, which has no vector
   form */
__attribute__((simd("notinbranch"), const)) float smooth_sinf(float) __asm__("sinf");
__attribute__((simd("notinbranch"), const)) float smooth_cosf(float) __asm__("cosf");
#if __GLIBC__ > 2 || __GLIBC_MINOR__ >= 35
__attribute__((simd("notinbranch"), const)) float acosf(float);
__attribute__((simd("notinbranch"), const)) float acoshf(float);
__attribute__((simd("notinbranch"), const)) float asinf(float);
__attribute__((simd("notinbranch"), const)) float asinhf(float);
__attribute__((simd("notinbranch"), const)) float atanf(float);
__attribute__((simd("notinbranch"), const)) float atanhf(float);
__attribute__((simd("notinbranch"), const)) float cbrtf(float);
__attribute__((simd("notinbranch"), const)) float coshf(float);
__attribute__((simd("notinbranch"), const)) float erfcf(float);
__attribute__((simd("notinbranch"), const)) float erff(float);
__attribute__((simd("notinbranch"), const)) float exp2f(float);
__attribute__((simd("notinbranch"), const)) float expm1f(float);
__attribute__((simd("notinbranch"), const)) float log10f(float);
__attribute__((simd("notinbranch"), const)) float log1pf(float);
__attribute__((simd("notinbranch"), const)) float log2f(float);
__attribute__((simd("notinbranch"), const)) float sinhf(float);
__attribute__((simd("notinbranch"), const)) float tanf(float);
__attribute__((simd("notinbranch"), const)) float tanhf(float);
__attribute__((simd("notinbranch"), const)) float atan2f(float, float);
__attribute__((simd("notinbranch"), const)) float hypotf(float, float);
#endif
#else
#define smooth_sinf sinf
#define smooth_cosf cosf
#endif
#endif
