def dot [n] (a: [n]f64) (b: [n]f64) : f64 = f64.sum (map2 (*) a b)

def loss [h] [d] [t] (input: [t][d]f64) (target: [t][h]f64) (W: [h][h]f64, U: [h][d]f64, b: [h]f64) : f64 =
  let (_, error) =
    loop (x, error) = (replicate h 0.0, 0.0)
    for s < t do
      let next = map3 (\w u bias -> f64.tanh (dot w x + dot u input[s] + bias)) W U b
      in (next, error + f64.sum (map2 (\a c -> (a - c) * (a - c)) next target[s]))
  in error

entry rnnGradient [h] [d] [t] (W: [h][h]f64) (U: [h][d]f64) (b: [h]f64) (input: [t][d]f64) (target: [t][h]f64)
  : ([h][h]f64, [h][d]f64, [h]f64) =
  vjp (loss input target) (W, U, b) 1.0
