def logSumExp [n] (v: [n]f64) : f64 =
  let m = f64.maximum v
  in m + f64.log (f64.sum (map (\x -> f64.exp (x - m)) v))

def times [p] [d] (q: [p]f64) (v: [d]f64) : [d]f64 =
  let entry_at r c = if r == c then f64.exp q[r] else if c < r then q[d + c * (2 * d - c - 1) / 2 + r - c - 1] else 0.0
  in tabulate d (\r -> f64.sum (map2 (\c x -> entry_at r c * x) (iota d) v))

def likelihood [k] [d] [p] [n] (x: [n][d]f64) (gamma: f64) (m: f64) (alphas: [k]f64, means: [k][d]f64, icf: [k][p]f64) : f64 =
  let sums = map (\q -> f64.sum (take d q)) icf
  let squares = map (\q -> f64.sum (map2 (\c e -> if c < d then f64.exp (2.0 * e) else e * e) (iota p) q)) icf
  let component point alpha sum mean q =
    alpha + sum - 0.5 * f64.sum (map (\e -> e * e) (times q (map2 (-) point mean)))
  let terms = map (\point -> logSumExp (map4 (component point) alphas sums means icf)) x
  in f64.sum terms - f64.i64 n * logSumExp alphas + 0.5 * gamma * gamma * f64.sum squares - m * f64.sum sums

entry mixtureGradient [k] [d] [p] [n] (alphas: [k]f64) (means: [k][d]f64) (icf: [k][p]f64) (x: [n][d]f64) (gamma: f64) (m: f64)
  : ([k]f64, [k][d]f64, [k][p]f64) =
  vjp (likelihood x gamma m) (alphas, means, icf) 1.0
