//! The table of workloads: a program, an entry, sizes, inputs.
//!
//! To add one: `benches/<file>.smooth`, a hand-written `benches/<file>.c` with functions of the same names and parameters as
//! `smoothc emit` gives, and a row here. What hand-written functions share is in `benches/shared.h`, which is put before each of
//! them. A hand-written function may leave out what a C programmer would (size checks), but not what the result needs: an index
//! out of range is a status.

use std::path::Path;

use crate::inputs::{self, Inputs};

pub struct Workload {
    pub name: &'static str,
    /// Of the program and the C file, without its ending.
    pub file: &'static str,
    pub entry: &'static str,
    pub sizes: &'static [&'static [usize]],
    /// How the report writes a size.
    pub label: fn(&[usize]) -> String,
    pub inputs: fn(&[usize]) -> Inputs,
    /// The share of this machine's limit that is expected of the hand-written version; 0 where it is not memory that is the limit.
    pub limit: f64,
}

/// All of them, in the order of the report.
pub const WORKLOADS: &[Workload] = &[
    Workload {
        name: "gradient of dot",
        file: "dot",
        entry: "dotGradient",
        sizes: &[&[1_000], &[10_000], &[100_000], &[1_000_000]],
        label: plain,
        inputs: inputs::two_vectors,
        limit: 1.0,
    },
    Workload {
        name: "gradient of vectorSum",
        file: "vector_sum",
        entry: "sumGradient",
        sizes: &[&[2_500], &[10_000], &[50_000]],
        label: plain,
        inputs: inputs::vector,
        limit: 1.0,
    },
    Workload {
        name: "Jacobian of v + w",
        file: "add",
        entry: "addJacobian",
        sizes: &[&[100], &[1_000], &[4_000]],
        label: square,
        inputs: inputs::square_result,
        limit: 0.9,
    },
    Workload {
        name: "d(v * s)/ds",
        file: "smul",
        entry: "smulDerivative",
        sizes: &[&[1_000], &[10_000], &[100_000], &[1_000_000]],
        label: plain,
        inputs: inputs::scaled_vector,
        limit: 1.0,
    },
    Workload {
        name: "gradient of sum(M v) in v",
        file: "matrix_vector",
        entry: "gradientInVector",
        sizes: &[&[100, 100], &[1_000, 1_000]],
        label: product,
        inputs: inputs::matrix_to_vector,
        limit: 0.6,
    },
    Workload {
        name: "gradient of sum(M v) in M",
        file: "matrix_vector",
        entry: "gradientInMatrix",
        sizes: &[&[100, 100], &[1_000, 1_000]],
        label: product,
        inputs: inputs::vector_to_matrix,
        limit: 0.6,
    },
    Workload {
        name: "quaternion rotation",
        file: "quaternion",
        entry: "rotationJacobians",
        sizes: &[&[1_000], &[100_000]],
        label: plain,
        inputs: inputs::rotations,
        limit: 0.2,
    },
    Workload {
        name: "NNMF gradient in v",
        file: "nnmf",
        entry: "gradientV",
        sizes: &[&[100, 100], &[1_000, 1_000], &[2_000, 2_000]],
        label: product,
        inputs: inputs::factors_in_v,
        limit: 0.7,
    },
    Workload {
        name: "NNMF gradient in u",
        file: "nnmf",
        entry: "gradientU",
        sizes: &[&[100, 100], &[1_000, 1_000], &[2_000, 2_000]],
        label: product,
        inputs: inputs::factors_in_u,
        limit: 0.8,
    },
    Workload {
        name: "camera Jacobian",
        file: "camera",
        entry: "cameraJacobian",
        sizes: &[&[1_000], &[10_000], &[100_000], &[1_000_000]],
        label: plain,
        inputs: inputs::one_camera,
        limit: 0.25,
    },
    Workload {
        name: "camera Jacobian, one array of rows",
        file: "camera",
        entry: "cameraRows",
        sizes: &[&[1_000], &[10_000], &[100_000], &[1_000_000]],
        label: plain,
        inputs: inputs::one_camera,
        limit: 0.25,
    },
    Workload {
        name: "arm of seven joints",
        file: "arm",
        entry: "armJacobians",
        sizes: &[&[100], &[1_000], &[10_000]],
        label: plain,
        inputs: inputs::poses,
        limit: 0.0,
    },
    Workload {
        name: "bundle adjustment",
        file: "bundle",
        entry: "reprojectionJacobians",
        sizes: &[&[49, 7_776, 31_843], &[257, 65_132, 225_911]],
        label: |size| plain(&size[2..]),
        inputs: inputs::observations,
        limit: 0.16,
    },
    Workload {
        name: "log determinant",
        file: "log_det",
        entry: "logDetGradient",
        sizes: &[&[16], &[64], &[256]],
        label: square,
        inputs: inputs::general_matrix,
        limit: 0.0,
    },
    Workload {
        name: "Cholesky log determinant",
        file: "log_det",
        entry: "choleskyLogDetGradient",
        sizes: &[&[16], &[64], &[256]],
        label: square,
        inputs: inputs::positive_definite,
        limit: 0.0,
    },
    Workload {
        name: "MLP",
        file: "mlp",
        entry: "mlpGradient",
        sizes: &[&[16, 16, 10, 128], &[32, 32, 10, 128], &[64, 64, 10, 128]],
        label: plain,
        inputs: inputs::perceptron,
        limit: 0.0,
    },
    Workload {
        name: "RNN",
        file: "rnn",
        entry: "rnnGradient",
        sizes: &[&[8, 4, 100], &[16, 8, 100], &[32, 16, 100]],
        label: plain,
        inputs: inputs::recurrent,
        limit: 0.0,
    },
    Workload {
        name: "Gaussian mixture",
        file: "mixture",
        entry: "mixtureGradient",
        sizes: &[&[25, 10, 1000], &[25, 32, 1000]],
        label: product,
        inputs: inputs::mixture,
        limit: 0.0,
    },
    Workload {
        name: "LSTM",
        file: "lstm",
        entry: "lstmGradient",
        sizes: &[&[14, 256], &[64, 256]],
        label: product,
        inputs: inputs::long_short_term,
        limit: 0.0,
    },
    Workload {
        name: "heat equation",
        file: "heat",
        entry: "heatGradient",
        sizes: &[&[50, 100], &[200, 400]],
        label: product,
        inputs: inputs::temperatures,
        limit: 0.0,
    },
    Workload {
        name: "Lotka-Volterra",
        file: "lotka_volterra",
        entry: "lotkaVolterraGradient",
        sizes: &[&[100], &[1000]],
        label: plain,
        inputs: inputs::prey_and_predators,
        limit: 0.0,
    },
    Workload {
        name: "Kalman likelihood",
        file: "kalman",
        entry: "kalmanGradient",
        sizes: &[&[100], &[1000]],
        label: plain,
        inputs: inputs::observed_states,
        limit: 0.0,
    },
    Workload {
        name: "energy of bodies",
        file: "bodies",
        entry: "energyGradient",
        sizes: &[&[64], &[256], &[1024]],
        label: plain,
        inputs: inputs::bodies,
        limit: 0.0,
    },
    Workload {
        name: "gradient of vectorMax",
        file: "maximum",
        entry: "maximumGradient",
        sizes: &[&[1_000], &[100_000]],
        label: plain,
        inputs: inputs::searched,
        limit: 0.0,
    },
    Workload {
        name: "logistic regression",
        file: "logistic",
        entry: "logisticGradient",
        sizes: &[&[20, 1000], &[100, 1000]],
        label: product,
        inputs: inputs::answers,
        limit: 0.0,
    },
    Workload {
        name: "normal equations of a motion",
        file: "motion",
        entry: "normalEquations",
        sizes: &[&[1_000], &[100_000]],
        label: plain,
        inputs: inputs::moved_points,
        limit: 0.0,
    },
    Workload {
        name: "convolution kernel",
        file: "convolution",
        entry: "kernelGradient",
        sizes: &[&[3, 64, 64], &[3, 256, 256], &[7, 128, 128]],
        label: product,
        inputs: inputs::images,
        limit: 0.0,
    },
    Workload {
        name: "hand with skin",
        file: "hand",
        entry: "handGradient",
        sizes: &[&[22, 544], &[22, 10_000]],
        label: product,
        inputs: inputs::skinned_hand,
        limit: 0.0,
    },
];

/// The text of the program.
pub fn program(workload: &Workload) -> Result<String, String> {
    read(&format!("{}.smooth", workload.file))
}

/// The text of the hand-written C, after what all of them share.
pub fn hand_written(workload: &Workload) -> Result<String, String> {
    Ok(read("shared.h")? + &read(&format!("{}.c", workload.file))?)
}

fn read(name: &str) -> Result<String, String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches").join(name);
    std::fs::read_to_string(&path).map_err(|problem| format!("cannot read {}: {problem}", path.display()))
}

/// `1,000`
fn plain(size: &[usize]) -> String {
    let digits = size[0].to_string();
    let mut label = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            label.push(',');
        }
        label.push(digit);
    }
    label
}

/// `100²`
fn square(size: &[usize]) -> String {
    format!("{}²", plain(size))
}

/// `100 × 200`
fn product(size: &[usize]) -> String {
    format!("{} × {}", plain(size), plain(&size[1..]))
}
