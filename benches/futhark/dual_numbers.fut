-- | What a Futhark programmer writes by hand: a number with its tangent, and each gradient element by a run of its own.
type dual = {primal: f64, tangent: f64}

def add (a: dual) (b: dual) : dual =
  {primal = a.primal + b.primal, tangent = a.tangent + b.tangent}

def total [n] (v: [n]dual) : dual =
  reduce add {primal = 0.0, tangent = 0.0} v

-- | The gradient of the sum.
entry totalGradient [n] (v: [n]f64) : [n]f64 =
  tabulate n (\i ->
                let seed j = {primal = v[j], tangent = if i == j then 1.0 else 0.0}
                in (total (tabulate n seed)).tangent)
