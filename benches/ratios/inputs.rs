//! The numbers that the benchmarks run on: random within plausible ranges, the same in every run.
//!
//! In: the sizes of a workload. Out: [`Inputs`], the arguments in the order of the C interface, the lengths of the outputs, and
//! how many bytes the derivative must read (each number that it needs, once) and write (each of its result, once).

/// The arguments of a call.
pub struct Inputs {
    /// Sizes in the order of the C interface.
    pub sizes: Vec<i64>,
    pub scalars: Vec<f64>,
    pub arrays: Vec<Array>,
    /// How many doubles each part of the result has.
    pub output: Vec<usize>,
    /// The bytes that must be read.
    pub read: usize,
}

impl Inputs {
    /// The same numbers as floats, for `--real f32`.
    pub fn single(self) -> Inputs {
        let narrowed = |array| match array {
            Array::Doubles(items) => Array::Singles(items.into_iter().map(|item| item as f32).collect()),
            Array::Singles(_) | Array::Indexes(_) => array,
        };
        Inputs { arrays: self.arrays.into_iter().map(narrowed).collect(), ..self }
    }

    /// The bytes that must be written.
    pub fn written(&self) -> usize {
        self.output.iter().sum::<usize>() * size_of::<f64>()
    }
}

pub enum Array {
    Doubles(Vec<f64>),
    Singles(Vec<f32>),
    Indexes(Vec<i64>),
}

/// Sebastiano Vigna's splitmix64.
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    fn doubles(&mut self, count: usize, low: f64, high: f64) -> Vec<f64> {
        (0..count).map(|_| self.between(low, high)).collect()
    }

    fn below(&mut self, bound: usize) -> i64 {
        (self.bits() % bound as u64) as i64
    }
}

/// Two vectors, of which the result needs one.
pub fn two_vectors(size: &[usize]) -> Inputs {
    let n = size[0];
    let mut random = Random(1);
    let arrays = vec![Array::Doubles(random.doubles(n, -1.0, 1.0)), Array::Doubles(random.doubles(n, -1.0, 1.0))];
    Inputs { sizes: vec![n as i64], scalars: vec![], arrays, output: vec![n], read: 8 * n }
}

/// Two vectors for an n × n result that does not depend on them.
pub fn square_result(size: &[usize]) -> Inputs {
    let n = size[0];
    Inputs { output: vec![n * n], read: 0, ..two_vectors(size) }
}

/// A vector that the result does not depend on.
pub fn vector(size: &[usize]) -> Inputs {
    let n = size[0];
    let arrays = vec![Array::Doubles(Random(2).doubles(n, -1.0, 1.0))];
    Inputs { sizes: vec![n as i64], scalars: vec![], arrays, output: vec![n], read: 0 }
}

/// A vector that is copied, and a scalar.
pub fn scaled_vector(size: &[usize]) -> Inputs {
    Inputs { scalars: vec![1.5], read: 8 * size[0], ..vector(size) }
}

/// An m × n matrix and a vector; the result has n numbers.
pub fn matrix_to_vector(size: &[usize]) -> Inputs {
    let (m, n) = (size[0], size[1]);
    let mut random = Random(3);
    let arrays = vec![Array::Doubles(random.doubles(m * n, -1.0, 1.0)), Array::Doubles(random.doubles(n, -1.0, 1.0))];
    Inputs { sizes: vec![m as i64, n as i64], scalars: vec![], arrays, output: vec![n], read: 8 * m * n }
}

/// The same; the result has m × n numbers and depends on the vector only.
pub fn vector_to_matrix(size: &[usize]) -> Inputs {
    Inputs { output: vec![size[0] * size[1]], read: 8 * size[1], ..matrix_to_vector(size) }
}

/// A positive matrix with its factors; the result has `output` numbers.
fn factors(size: &[usize], output: usize) -> Inputs {
    let (m, n) = (size[0], size[1]);
    let mut random = Random(4);
    let arrays = vec![
        Array::Doubles(random.doubles(m * n, 0.1, 2.0)),
        Array::Doubles(random.doubles(m, 0.5, 1.5)),
        Array::Doubles(random.doubles(n, 0.5, 1.5)),
    ];
    Inputs { sizes: vec![m as i64, n as i64], scalars: vec![], arrays, output: vec![output], read: 8 * (m * n + m + n) }
}

pub fn factors_in_v(size: &[usize]) -> Inputs {
    factors(size, size[1])
}

pub fn factors_in_u(size: &[usize]) -> Inputs {
    factors(size, size[0])
}

/// Quaternions of length one, and points.
pub fn rotations(size: &[usize]) -> Inputs {
    let n = size[0];
    let mut random = Random(5);
    let mut quaternions = random.doubles(4 * n, 0.1, 1.0);
    for quaternion in quaternions.chunks_exact_mut(4) {
        let length = quaternion.iter().map(|x| x * x).sum::<f64>().sqrt();
        quaternion.iter_mut().for_each(|x| *x /= length);
    }
    let arrays = vec![Array::Doubles(quaternions), Array::Doubles(random.doubles(3 * n, -2.0, 2.0))];
    Inputs { sizes: vec![n as i64], scalars: vec![], arrays, output: vec![21 * n], read: 8 * n * (4 + 3) }
}

/// A camera: rotation, centre, focal length, principal point, radial distortion.
fn camera(random: &mut Random) -> Vec<f64> {
    let mut camera = random.doubles(3, -0.4, 0.4);
    camera.extend(random.doubles(3, -1.0, 1.0));
    camera.push(random.between(400.0, 600.0));
    camera.extend(random.doubles(2, -5.0, 5.0));
    camera.extend(random.doubles(2, -0.05, 0.05));
    camera
}

/// Points in front of cameras that look along the third axis.
fn points(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).flat_map(|_| [random.between(-2.0, 2.0), random.between(-2.0, 2.0), random.between(6.0, 12.0)]).collect()
}

/// One camera and many points.
pub fn one_camera(size: &[usize]) -> Inputs {
    let n = size[0];
    let mut random = Random(6);
    let arrays = vec![Array::Doubles(camera(&mut random)), Array::Doubles(points(&mut random, n))];
    Inputs { sizes: vec![n as i64], scalars: vec![], arrays, output: vec![22 * n], read: 8 * (11 + n * 3) }
}

/// A chain of seven joints and the angles of n poses.
pub fn poses(size: &[usize]) -> Inputs {
    let n = size[0];
    let mut random = Random(23);
    let arrays = vec![Array::Doubles(random.doubles(21, -1.5, 1.5)), Array::Doubles(random.doubles(7 * n, -3.0, 3.0))];
    Inputs { sizes: vec![n as i64], scalars: vec![], arrays, output: vec![3 * n, 21 * n], read: 8 * (21 + 7 * n) }
}

/// Cameras, points, and observations of a random point by a random camera, as many as in a problem of ADBench. The cameras and
/// points are counted once.
pub fn observations(size: &[usize]) -> Inputs {
    let (c, p, k) = (size[0], size[1], size[2]);
    let mut random = Random(7);
    let cameras = (0..c).flat_map(|_| camera(&mut random)).collect();
    let points = points(&mut random, p);
    let arrays = vec![
        Array::Doubles(cameras),
        Array::Doubles(points),
        Array::Doubles(random.doubles(k, 0.5, 1.5)),
        Array::Indexes((0..k).map(|_| random.below(c)).collect()),
        Array::Indexes((0..k).map(|_| random.below(p)).collect()),
        Array::Doubles(random.doubles(2 * k, -100.0, 100.0)),
    ];
    let sizes = [c, p, k].map(|size| size as i64).to_vec();
    Inputs { sizes, scalars: vec![], arrays, output: vec![30 * k], read: 8 * (11 * c + 3 * p + k * (1 + 2 + 2)) }
}

/// A matrix whose largest elements are one place right of the diagonal, so that elimination swaps rows.
pub fn general_matrix(size: &[usize]) -> Inputs {
    let n = size[0];
    let mut matrix = Random(8).doubles(n * n, -1.0, 1.0);
    (0..n).for_each(|i| matrix[i * n + (i + 1) % n] += 2.0 * (n as f64).sqrt());
    Inputs { sizes: vec![n as i64], scalars: vec![], arrays: vec![Array::Doubles(matrix)], output: vec![n * n], read: 8 * n * n }
}

/// A positive definite matrix, of which the lower triangle is read.
pub fn positive_definite(size: &[usize]) -> Inputs {
    let n = size[0];
    let mut matrix = Random(9).doubles(n * n, -1.0, 1.0);
    (0..n).for_each(|i| matrix[i * n + i] += 2.0 * (n as f64).sqrt());
    Inputs { sizes: vec![n as i64], scalars: vec![], arrays: vec![Array::Doubles(matrix)], output: vec![n * n], read: 4 * n * n }
}

/// The arrays of doubles with the inputs that differentiate a loss in the first `weights` of them.
fn in_weights(sizes: &[usize], arrays: Vec<Vec<f64>>, weights: usize) -> Inputs {
    let output = arrays[..weights].iter().map(Vec::len).collect();
    let read = 8 * arrays.iter().map(Vec::len).sum::<usize>();
    let sizes = sizes.iter().map(|&size| size as i64).collect();
    Inputs { sizes, scalars: vec![], arrays: arrays.into_iter().map(Array::Doubles).collect(), output, read }
}

/// Weights of a layer, with variance 1 / inputs but for a factor, and its biases.
fn layer(random: &mut Random, outputs: usize, inputs: usize) -> [Vec<f64>; 2] {
    let bound = 1.0 / (inputs as f64).sqrt();
    [random.doubles(outputs * inputs, -bound, bound), random.doubles(outputs, -0.1, 0.1)]
}

/// A perceptron of three layers, h wide, from d numbers to c classes, and n samples.
pub fn perceptron(size: &[usize]) -> Inputs {
    let &[h, d, c, n] = size else { panic!("four sizes") };
    let mut random = Random(10);
    let layers = [(h, d), (h, h), (c, h)];
    let mut arrays: Vec<Vec<f64>> = layers.iter().flat_map(|&(outputs, inputs)| layer(&mut random, outputs, inputs)).collect();
    arrays.push(random.doubles(n * d, -1.0, 1.0));
    let mut inputs = in_weights(size, arrays, 6);
    inputs.arrays.push(Array::Indexes((0..n).map(|_| random.below(c)).collect()));
    inputs.read += 8 * n;
    inputs
}

/// A recurrent network with h states and d inputs, over t steps.
pub fn recurrent(size: &[usize]) -> Inputs {
    let &[h, d, t] = size else { panic!("three sizes") };
    let mut random = Random(11);
    let [states, biases] = layer(&mut random, h, h);
    let [inputs, _] = layer(&mut random, h, d);
    let series = [random.doubles(t * d, -1.0, 1.0), random.doubles(t * h, -0.5, 0.5)];
    in_weights(size, [states, inputs, biases].into_iter().chain(series).collect(), 3)
}

/// A mixture of k components in d dimensions with factors of p = d (d + 1) / 2 numbers, and n points.
pub fn mixture(size: &[usize]) -> Inputs {
    let &[k, d, n] = size else { panic!("three sizes") };
    let p = d * (d + 1) / 2;
    let mut random = Random(12);
    let ranges = [(k, 1.0), (k * d, 1.0), (k * p, 0.3), (n * d, 2.0)];
    let arrays = ranges.iter().map(|&(count, bound)| random.doubles(count, -bound, bound)).collect();
    Inputs { scalars: vec![1.0, 2.0], ..in_weights(&[k, d, p, n], arrays, 3) }
}

/// An LSTM of two layers, b wide, and a sequence of c rows.
pub fn long_short_term(size: &[usize]) -> Inputs {
    let &[b, c] = size else { panic!("two sizes") };
    let mut random = Random(13);
    let arrays = [4, 4, 4, 4, 3, 4, c].iter().map(|rows| random.doubles(rows * b, -1.0, 1.0)).collect();
    in_weights(size, arrays, 5)
}

/// The temperatures of n cells at the start and those wanted at the end, with a step's length and how many there are.
pub fn temperatures(size: &[usize]) -> Inputs {
    let &[n, steps] = size else { panic!("two sizes") };
    let mut random = Random(14);
    let arrays = vec![random.doubles(n, 0.0, 1.0), random.doubles(n, 0.0, 1.0)];
    Inputs { scalars: vec![0.25], ..in_weights(&[n, steps], arrays, 1) }
}

/// Parameters of prey and predators, where they start, the time between observations, and n observations.
pub fn prey_and_predators(size: &[usize]) -> Inputs {
    let mut random = Random(15);
    let arrays = vec![vec![1.1, 0.4, 0.1, 0.4], vec![10.0, 5.0], random.doubles(2 * size[0], 1.0, 12.0)];
    Inputs { scalars: vec![0.01], ..in_weights(size, arrays, 1) }
}

/// A state that moves on, the variances of how it does and of what is seen, and n observations.
pub fn observed_states(size: &[usize]) -> Inputs {
    let mut random = Random(16);
    let moves = vec![1.0, 0.0, 0.1, 0.0, 0.0, 1.0, 0.0, 0.1, -0.1, 0.0, 0.95, 0.0, 0.0, -0.1, 0.0, 0.95];
    let variances = [random.doubles(4, 0.01, 0.1), random.doubles(2, 0.1, 0.3)];
    in_weights(size, [moves].into_iter().chain(variances).chain([random.doubles(2 * size[0], -1.0, 1.0)]).collect(), 3)
}

/// The places and masses of n bodies.
pub fn bodies(size: &[usize]) -> Inputs {
    let mut random = Random(17);
    in_weights(size, vec![random.doubles(3 * size[0], -1.0, 1.0), random.doubles(size[0], 0.5, 1.5)], 1)
}

/// A vector that the result depends on.
pub fn searched(size: &[usize]) -> Inputs {
    in_weights(size, vec![Random(18).doubles(size[0], -1.0, 1.0)], 1)
}

/// Weights for d numbers, n samples, and which of them are ones.
pub fn answers(size: &[usize]) -> Inputs {
    let &[d, n] = size else { panic!("two sizes") };
    let mut random = Random(19);
    let arrays = vec![random.doubles(d, -0.5, 0.5), random.doubles(n * d, -1.0, 1.0), (0..n).map(|_| random.below(2) as f64).collect()];
    in_weights(size, arrays, 1)
}

/// A motion, n points of the plane, and where they went.
pub fn moved_points(size: &[usize]) -> Inputs {
    let &[n] = size else { panic!("one size") };
    let mut random = Random(22);
    let arrays = vec![random.doubles(3, -1.0, 1.0), random.doubles(2 * n, -2.0, 2.0), random.doubles(2 * n, -2.0, 2.0)];
    Inputs { output: vec![9, 3], ..in_weights(size, arrays, 0) }
}

/// A k × k kernel, an h × w image, and the image that is wanted.
pub fn images(size: &[usize]) -> Inputs {
    let &[k, h, w] = size else { panic!("three sizes") };
    let mut random = Random(20);
    in_weights(size, [k * k, h * w, (h - k + 1) * (w - k + 1)].iter().map(|&count| random.doubles(count, -1.0, 1.0)).collect(), 1)
}

/// A hand of b bones, each after its parent, and n vertices of its skin, of which each follows all bones by its weights.
pub fn skinned_hand(size: &[usize]) -> Inputs {
    let &[b, n] = size else { panic!("two sizes") };
    let mut random = Random(21);
    let ranges =
        [(3 * b, -0.5, 0.5), (3 * b, -1.0, 1.0), (3 * b, -1.0, 1.0), (3 * n, -2.0, 2.0), (n * b, 0.0, 2.0 / b as f64), (3 * n, -2.0, 2.0)];
    let arrays = ranges.iter().map(|&(count, low, high)| random.doubles(count, low, high)).collect();
    let mut inputs = in_weights(size, arrays, 1);
    inputs.arrays.insert(3, Array::Indexes((0..b).map(|bone| random.below(bone.max(1))).collect()));
    inputs.read += 8 * b;
    inputs
}
