def sigmoid (x: f64) : f64 = 1.0 / (1.0 + f64.exp (-x))

def layer [b] (w: [4][b]f64) (v: [4][b]f64) (hidden: [b]f64) (cell: [b]f64) (input: [b]f64) : ([b]f64, [b]f64) =
  let gate k (x: [b]f64) = map3 (\x w v -> x * w + v) x w[k] v[k]
  let forget = map sigmoid (gate 0 input)
  let ingate = map sigmoid (gate 1 hidden)
  let outgate = map sigmoid (gate 2 input)
  let change = map f64.tanh (gate 3 hidden)
  let cell = map4 (\c f i g -> c * f + i * g) cell forget ingate change
  in (map2 (\o c -> o * f64.tanh c) outgate cell, cell)

def loss [b] [c] (start: [4][b]f64) (sequence: [c][b]f64) (w1: [4][b]f64, v1: [4][b]f64, w2: [4][b]f64, v2: [4][b]f64, extra: [3][b]f64) : f64 =
  let (_, _, _, _, total) =
    loop (h1, c1, h2, c2, total) = (start[0], start[1], start[2], start[3], 0.0)
    for t < c - 1 do
      let (h1, c1) = layer w1 v1 h1 c1 (map2 (*) sequence[t] extra[0])
      let (h2, c2) = layer w2 v2 h2 c2 h1
      let y = map3 (\h a e -> h * a + e) h2 extra[1] extra[2]
      let norm = f64.log (f64.sum (map f64.exp y) + 2.0)
      in (h1, c1, h2, c2, total + f64.sum (map2 (\s p -> s * (p - norm)) sequence[t + 1] y))
  in -total / f64.i64 ((c - 1) * b)

entry lstmGradient [b] [c] (w1: [4][b]f64) (v1: [4][b]f64) (w2: [4][b]f64) (v2: [4][b]f64) (extra: [3][b]f64) (start: [4][b]f64) (sequence: [c][b]f64)
  : ([4][b]f64, [4][b]f64, [4][b]f64, [4][b]f64, [3][b]f64) =
  vjp (loss start sequence) (w1, v1, w2, v2, extra) 1.0
