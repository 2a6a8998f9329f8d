def step [n] (r: f64) (u: [n]f64) : [n]f64 =
  tabulate n (\i -> if i == 0 || i == n - 1 then u[i] else u[i] + r * (u[i - 1] - 2.0 * u[i] + u[i + 1]))

def error [n] (target: [n]f64) (r: f64) (steps: i64) (u: [n]f64) : f64 =
  let last = loop u for _i < steps do step r u
  in f64.sum (map2 (\a b -> (a - b) * (a - b)) last target)

entry heatGradient [n] (u: [n]f64) (target: [n]f64) (r: f64) (steps: i64) : [n]f64 =
  vjp (error target r steps) u 1.0
