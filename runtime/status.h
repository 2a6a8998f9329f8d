#ifndef SMOOTH_STATUS
#define SMOOTH_STATUS
typedef enum smooth_status {
    SMOOTH_OK = 0,
    SMOOTH_BOUNDS = 1,
    SMOOTH_SHAPE = 2,
    SMOOTH_NEGATIVE = 3,
    SMOOTH_DIV_ZERO = 4,
    SMOOTH_RANGE = 5,
    SMOOTH_WORKSPACE = 6
} smooth_status;
#endif
