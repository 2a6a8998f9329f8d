/* Prints the slope of the misfit of a circle. */
#include "circle.h"

#include <stdio.h>

int main(void)
{
    const double points[] = {2, 0, 0, 2, -2, 0, 0, -4};
    const double circle[] = {0, 0, 1};
    double slope_there[3];
    if (slope_workspace(4) != 0) {
        return 1;
    }
    if (slope(4, circle, points, slope_there, NULL, 0) != SMOOTH_OK) {
        return 1;
    }
    printf("%g %g %g\n", slope_there[0], slope_there[1], slope_there[2]);
    return 0;
}
