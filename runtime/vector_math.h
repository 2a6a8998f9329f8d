/* These run in vector lanes where libmvec is. sin and cos have names of their own: of both
   of one number the compiler would make one call, which has no vector form. */
#ifndef SMOOTH_VECTOR_MATH
#define SMOOTH_VECTOR_MATH
#if defined(SMOOTH_SIMD) && defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && \
    defined(__GLIBC__) && !defined(__cplusplus)
__attribute__((simd("notinbranch"), const)) double exp(double);
__attribute__((simd("notinbranch"), const)) double log(double);
__attribute__((simd("notinbranch"), const)) double pow(double, double);
__attribute__((simd("notinbranch"), const)) double smooth_sin(double) __asm__("sin");
__attribute__((simd("notinbranch"), const)) double smooth_cos(double) __asm__("cos");
#if __GLIBC__ > 2 || __GLIBC_MINOR__ >= 35
__attribute__((simd("notinbranch"), const)) double acos(double);
__attribute__((simd("notinbranch"), const)) double acosh(double);
__attribute__((simd("notinbranch"), const)) double asin(double);
__attribute__((simd("notinbranch"), const)) double asinh(double);
__attribute__((simd("notinbranch"), const)) double atan(double);
__attribute__((simd("notinbranch"), const)) double atanh(double);
__attribute__((simd("notinbranch"), const)) double cbrt(double);
__attribute__((simd("notinbranch"), const)) double cosh(double);
__attribute__((simd("notinbranch"), const)) double erf(double);
__attribute__((simd("notinbranch"), const)) double erfc(double);
__attribute__((simd("notinbranch"), const)) double exp2(double);
__attribute__((simd("notinbranch"), const)) double expm1(double);
__attribute__((simd("notinbranch"), const)) double log10(double);
__attribute__((simd("notinbranch"), const)) double log1p(double);
__attribute__((simd("notinbranch"), const)) double log2(double);
__attribute__((simd("notinbranch"), const)) double sinh(double);
__attribute__((simd("notinbranch"), const)) double tan(double);
__attribute__((simd("notinbranch"), const)) double tanh(double);
__attribute__((simd("notinbranch"), const)) double atan2(double, double);
__attribute__((simd("notinbranch"), const)) double hypot(double, double);
#endif
#else
#define smooth_sin sin
#define smooth_cos cos
#endif
#endif
