// Fits a circle to points by Newton's method as fit.cpp does; arguments and results are Eigen's, and Eigen solves for the step.
#include "circle.hpp"

#include <Eigen/Dense>

#include <cmath>
#include <cstdio>
#include <vector>

int main()
{
    std::vector<double> numbers;
    for (int i = 0; i < 20; ++i) {
        const double angle = 0.3 * i;
        const double radius = 2.0 + 0.01 * (i % 3);
        numbers.insert(numbers.end(), {1.0 + radius * std::cos(angle), -3.0 + radius * std::sin(angle)});
    }
    // row-major: Eigen's matrices are column-major where nothing is said
    const Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor>> points(numbers.data(), 20, 2);
    Eigen::Vector3d circle(0.5, -2.5, 1.5);
    smoothc::workspace scratch;
    for (int step = 0; step < 20; ++step) {
        const auto slope = smoothc::circle::slope(circle, points, scratch);
        const auto hessian = smoothc::circle::misfit_hessian_circle(circle, points, scratch);
        circle -= smoothc::eigen(hessian).lu().solve(smoothc::eigen(slope));
    }
    std::printf("centre (%.2f, %.2f), radius %.2f\n", circle[0], circle[1], circle[2]);
}
