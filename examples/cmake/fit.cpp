// Fits a circle to points by Newton's method: the slope and the Hessian come from circle.smooth.
#include "circle.hpp"

#include <cmath>
#include <cstdio>
#include <vector>

// Solves the 3 x 3 system m x = b by Cramer's rule.
static std::array<double, 3> solve(const smoothc::array<double, 2> &m, const smoothc::array<double, 1> &b)
{
    const auto determinant = [](const std::array<std::array<double, 3>, 3> &a) {
        return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0])
             + a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    };
    std::array<std::array<double, 3>, 3> whole{};
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            whole[i][j] = m(i, j);
        }
    }
    std::array<double, 3> x{};
    for (std::size_t column = 0; column < 3; ++column) {
        auto changed = whole;
        for (std::size_t row = 0; row < 3; ++row) {
            changed[row][column] = b[row];
        }
        x[column] = determinant(changed) / determinant(whole);
    }
    return x;
}

int main()
{
    std::vector<double> numbers;
    for (int i = 0; i < 20; ++i) {
        const double angle = 0.3 * i;
        const double radius = 2.0 + 0.01 * (i % 3);
        numbers.insert(numbers.end(), {1.0 + radius * std::cos(angle), -3.0 + radius * std::sin(angle)});
    }
    const smoothc::view<const double, 2> points(numbers.data(), {20, 2});
    std::array<double, 3> circle{0.5, -2.5, 1.5};
    smoothc::workspace scratch;
    for (int step = 0; step < 20; ++step) {
        const auto slope = smoothc::circle::slope(circle, points, scratch);
        const auto change = solve(smoothc::circle::misfit_hessian_circle(circle, points, scratch), slope);
        for (std::size_t i = 0; i < 3; ++i) {
            circle[i] -= change[i];
        }
    }
    std::printf("centre (%.2f, %.2f), radius %.2f\n", circle[0], circle[1], circle[2]);
}
