-- Elimination with partial pivoting. A Futhark loop keeps its arrays' shapes: each step maps over all rows.
def logDet [n] (A: [n][n]f64) : f64 =
  let (_, total) =
    loop (a, total) = (A, 0.0)
    for k < n do
      let larger (i, x) (j, y) = if y > x then (j, y) else (i, x)
      let (p, _) = loop best = (k, f64.abs a[k, k]) for i in k + 1..<n do larger best (i, f64.abs a[i, k])
      let pivot = copy a[p]
      let rest i (row: [n]f64) =
        if i <= k
        then row
        else let factor = row[k] / pivot[k]
             in map2 (\x y -> x - factor * y) row pivot
      let swapped = tabulate n (\i -> if i == p then a[k] else if i == k then pivot else a[i])
      in (map2 rest (iota n) swapped, total + f64.log (f64.abs pivot[k]))
  in total

entry logDetGradient [n] (A: [n][n]f64) : [n][n]f64 = vjp logDet A 1.0
