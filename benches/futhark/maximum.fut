entry maximumGradient [n] (v: [n]f64) : [n]f64 = vjp f64.maximum v 1.0
