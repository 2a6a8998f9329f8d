#ifndef SMOOTH_NODISCARD
#if (defined(__cplusplus) && __cplusplus >= 201703L) || \
    (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 202311L)
#define SMOOTH_NODISCARD [[nodiscard]]
#elif defined(__clang__)
#define SMOOTH_NODISCARD __attribute__((warn_unused_result))
#else
#define SMOOTH_NODISCARD
#endif
#endif

#ifndef SMOOTH_STATUS
#define SMOOTH_STATUS
typedef enum SMOOTH_NODISCARD smooth_status {
    SMOOTH_OK = 0,
    SMOOTH_BOUNDS = 1,
    SMOOTH_SHAPE = 2,
    SMOOTH_NEGATIVE = 3,
    SMOOTH_DIV_ZERO = 4,
    SMOOTH_RANGE = 5,
    SMOOTH_WORKSPACE = 6
} smooth_status;
#endif
