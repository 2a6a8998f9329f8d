//! The programs of 001 Figures 4 and 14, and of Example 1, as printed, with their lines laid out.

use super::sexp;

const FIGURE_4: &str = "\
let vectorRange = fun n -> build n (fun i -> i)
let vectorFill = fun n e -> build n (fun i -> e)
let vectorHot = fun n i ->
  build n (fun j -> if i = j then 1 else 0)
let vectorMap = fun v f ->
  build (length v) (fun i -> f v[i])
let vectorMap2 = fun v1 v2 f ->
  build (length v1) (fun i -> f v1[i] v2[i])
let vectorZip = fun v1 v2 -> vectorMap2 v1 v2 (pair)
let vectorAdd = fun v1 v2 -> vectorMap2 v1 v2 (+)
let vectorEMul = fun v1 v2 -> vectorMap2 v1 v2 (×)
let vectorSMul = fun v s -> vectorMap v (fun a -> a × s)
let vectorSum = fun v -> ifold (fun s i -> s + v[i]) 0 (length v)
let vectorDot = fun v1 v2 -> vectorSum (vectorEMul v1 v2)
let vectorNorm = fun v -> sqrt (vectorDot v v)
let vectorSlice = fun v s e -> build (e - s + 1) (fun i -> v[i + s])
let vectorToMatrix = fun v -> build 1 (fun i -> v)
let vectorOutProd = fun v1 v2 ->
  let m1 = vectorToMatrix v1
  let m2 = vectorToMatrix v2
  let m2T = matrixTranspose m2
  matrixMul m1 m2T
let matrixRows = fun m -> length m
let matrixCols = fun m -> length (m[0])
let matrixZeros = fun r c -> build r (fun i -> vectorFill c 0)
let matrixOnes = fun r c -> build r (fun i -> vectorFill c 1)
let matrixEye = fun n -> build n (fun i -> vectorHot n i)
let matrixHot = fun n m r c ->
  build n (fun i ->
    build m (fun j ->
      if (i = r && j = c) then 1 else 0
  ) )
let matrixMap = fun m f -> build (length m) (fun i -> f m[i])
let matrixMap2 = fun m1 m2 f ->
  build (length m1) (fun i -> f m1[i] m2[i])
let matrixAdd = fun m1 m2 -> matrixMap2 m1 m2 vectorAdd
let matrixTranspose = fun m ->
  build (matrixCols m) (fun i ->
    build (matrixRows m) (fun j ->
      m[j][i]
  ) )
let matrixMul = fun m1 m2 ->
  let m2T = matrixTranspose m2
  build (matrixRows m1) (fun i ->
    build (matrixCols m2) (fun j ->
      vectorDot (m1[i]) (m2T[j])
  ) )
let matrixTrace = fun m ->
  ifold (fun s i -> s + m[i][i]) 0 (length m)
";

const FIGURE_14: &str = "\
let distort = fun (radical: Vector) (proj: Vector) ->
  let rsq = vectorNorm proj
  let L = 1.0 + radical.[0] * rsq + radical.[1] * rsq * rsq
  vectorSMul proj L
let rodrigues = fun (rotation: Vector) (x: Vector) ->
  let sqtheta = vectorNorm rotation
  let theta = sqrt sqtheta
  let thetaInv = 1.0 / theta
  let w = vectorSMul rotation thetaInv
  let wCrossX = vectorCross w x
  let tmp = (vectorDot w x) * (1.0 - (cos theta))
  let v1 = vectorSMul x (cos theta)
  let v2 = vectorSMul wCrossX (sin theta)
  vectorAdd (vectorAdd v1 v2) (vectorSMul w tmp)
let project = fun (cam: Vector) (x: Vector) ->
  let Xcam = rodrigues (vectorSlice cam 0 2) (
    vectorSub x (vectorSlice cam 3 5) )
  let distorted = distort (vectorSlice cam 9 10) (
    vectorSMul (vectorSlice Xcam 0 1) (1.0/Xcam.[2]) )
  vectorAdd (vectorSlice cam 7 8) (
    vectorSMul distorted cam.[6] )
";

#[test]
fn figure_4_parses_as_printed() {
    let trees = sexp::file(FIGURE_4);
    assert_eq!(trees.lines().count(), 27, "{trees}");
    for line in [
        "vectorHot = (fun n i -> (build n (fun j -> (if (= i j) 1 0))))",
        "vectorMap2 = (fun v1 v2 f -> (build (length v1) (fun i -> (f v1[i] v2[i]))))",
        "vectorAdd = (fun v1 v2 -> (vectorMap2 v1 v2 (+)))",
        "vectorEMul = (fun v1 v2 -> (vectorMap2 v1 v2 (*)))",
        "vectorSlice = (fun v s e -> (build (+ (- e s) 1) (fun i -> v[(+ i s)])))",
        "matrixHot = (fun n m r c -> (build n (fun i -> (build m (fun j -> (if (&& (= i r) (= j c)) 1 0))))))",
        "matrixTranspose = (fun m -> (build (matrixCols m) (fun i -> (build (matrixRows m) (fun j -> m[j][i])))))",
    ] {
        assert!(trees.lines().any(|found| found == line), "{line}\n{trees}");
    }
    assert!(trees.contains("vectorOutProd = (fun v1 v2 -> (let m1 = (vectorToMatrix v1) in (let m2 = "), "{trees}");
}

#[test]
fn figure_14_parses_as_printed() {
    assert_eq!(
        sexp::file(FIGURE_14).lines().last(),
        Some(
            "project = (fun (cam: [D]) (x: [D]) -> \
             (let Xcam = (rodrigues (vectorSlice cam 0 2) (vectorSub x (vectorSlice cam 3 5))) in \
             (let distorted = (distort (vectorSlice cam 9 10) (vectorSMul (vectorSlice Xcam 0 1) (/ 1.0 Xcam[2]))) in \
             (vectorAdd (vectorSlice cam 7 8) (vectorSMul distorted cam[6])))))"
        )
    );
}

#[test]
fn both_figures_parse_with_windows_line_ends() {
    for figure in [FIGURE_4, FIGURE_14] {
        assert_eq!(sexp::file(&figure.replace('\n', "\r\n")), sexp::file(figure));
    }
}

#[test]
fn example_1_parses_as_printed() {
    let text = "let f = fun u M v ->\n  let um = vectorToMatrix u\n  let vt = matrixTranspose (vectorToMatrix v)\n  \
                let m = matrixMult um (matrixMult M vt)\n  m[0][0]\n";
    assert_eq!(
        sexp::file(text),
        "f = (fun u M v -> (let um = (vectorToMatrix u) in (let vt = (matrixTranspose (vectorToMatrix v)) in \
         (let m = (matrixMult um (matrixMult M vt)) in m[0][0]))))"
    );
}
