// Bundle adjustment in the format of the public "Bundle Adjustment in the Large" problems: once with Ceres' automatic differentiation, once
// with the functions of residual.smooth. Prints for each the cost before and after, and the times of an iteration, of the residuals, and of
// the residuals with their Jacobians.
#include "residual.h"

#include <ceres/ceres.h>
#include <ceres/rotation.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <vector>

struct Problem {
    struct Seen {
        int camera;
        int point;
        double at[2];
    };
    std::vector<Seen> seen;
    std::vector<double> cameras;
    std::vector<double> points;
};

static bool read(const char *path, Problem &problem)
{
    std::ifstream file(path);
    std::size_t cameras = 0;
    std::size_t points = 0;
    std::size_t observations = 0;
    if (!(file >> cameras >> points >> observations)) {
        return false;
    }
    problem.seen.resize(observations);
    problem.cameras.resize(9 * cameras);
    problem.points.resize(3 * points);
    for (Problem::Seen &seen : problem.seen) {
        file >> seen.camera >> seen.point >> seen.at[0] >> seen.at[1];
    }
    for (double &value : problem.cameras) {
        file >> value;
    }
    for (double &value : problem.points) {
        file >> value;
    }
    return !file.fail();
}

// What Ceres differentiates itself.
struct Autodiff {
    const double *at;

    template <class T>
    bool operator()(const T *camera, const T *point, T *residual) const
    {
        T p[3];
        ceres::AngleAxisRotatePoint(camera, point, p);
        const T x = -(p[0] + camera[3]) / (p[2] + camera[5]);
        const T y = -(p[1] + camera[4]) / (p[2] + camera[5]);
        const T d = x * x + y * y;
        const T scale = camera[6] * (1.0 + d * (camera[7] + camera[8] * d));
        residual[0] = scale * x - at[0];
        residual[1] = scale * y - at[1];
        return true;
    }
};

// What smoothc differentiated: Ceres' blocks are row-major too, so that C writes right into them. Residuals and Jacobians are one call.
class Smooth : public ceres::SizedCostFunction<2, 9, 3> {
public:
    explicit Smooth(const double *at) : at_(at) {}

    bool Evaluate(const double *const *parameters, double *residuals, double **jacobians) const override
    {
        const double *const camera = parameters[0];
        const double *const point = parameters[1];
        if (jacobians == nullptr) {
            return residual(camera, point, at_, residuals, nullptr, 0) == SMOOTH_OK;
        }
        // a block that is not wanted is NULL
        double unwanted[18];
        double *const of_camera = jacobians[0] != nullptr ? jacobians[0] : unwanted;
        double *const of_point = jacobians[1] != nullptr ? jacobians[1] : unwanted;
        return residualAndJacobian(camera, point, at_, residuals, of_camera, of_point, nullptr, 0) == SMOOTH_OK;
    }

private:
    const double *at_;
};

static double solve(const char *name, Problem start, bool smooth, int iterations)
{
    ceres::Problem problem;
    for (const Problem::Seen &seen : start.seen) {
        ceres::CostFunction *function = nullptr;
        if (smooth) {
            function = new Smooth(seen.at);
        } else {
            function = new ceres::AutoDiffCostFunction<Autodiff, 2, 9, 3>(new Autodiff{seen.at});
        }
        problem.AddResidualBlock(function, nullptr, &start.cameras[9 * static_cast<std::size_t>(seen.camera)],
                                 &start.points[3 * static_cast<std::size_t>(seen.point)]);
    }
    ceres::Solver::Options options;
    options.linear_solver_type = ceres::DENSE_SCHUR;
    options.max_num_iterations = iterations;
    options.logging_type = ceres::SILENT;
    ceres::Solver::Summary summary;
    ceres::Solve(options, &problem, &summary);
    const int made = static_cast<int>(summary.iterations.size());
    const auto mean = [](double seconds, int times) { return 1e3 * seconds / std::max(times, 1); };
    std::printf("%-8s cost %.4e to %.4e, %d iterations of %.2f ms; residuals %.2f ms, with Jacobians %.2f ms\n", name, summary.initial_cost,
                summary.final_cost, made, mean(summary.minimizer_time_in_seconds, made),
                mean(summary.residual_evaluation_time_in_seconds, summary.num_residual_evaluations),
                mean(summary.jacobian_evaluation_time_in_seconds, summary.num_jacobian_evaluations));
    return summary.final_cost;
}

int main(int count, char **words)
{
    Problem problem;
    if (count < 2 || !read(words[1], problem)) {
        std::fprintf(stderr, "usage: adjust PROBLEM [ITERATIONS]\n");
        return 2;
    }
    if (residual_workspace() != 0 || residualAndJacobian_workspace() != 0) {
        std::fprintf(stderr, "a workspace is needed\n");
        return 1;
    }
    const int iterations = count > 2 ? std::atoi(words[2]) : 50;
    const double own = solve("autodiff", problem, false, iterations);
    const double smooth = solve("smoothc", problem, true, iterations);
    return std::abs(own - smooth) <= 1e-3 * own ? 0 : 1;
}
