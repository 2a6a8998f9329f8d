"""python3 benches/size.py: how long emitted C is, and how long it compiles, beside CasADi's for the same derivatives.

In: the programs of benches/, and the same derivatives as CasADi expressions of a fixed size. Out: docs/size.md, with the lines
of both, the bytes of their objects and the C compiler's time, the least of three runs. CasADi (`pip install
casadi`) writes one assignment for each operation, so its code grows with the sizes; ours does not. Without CasADi a line says
so and nothing is written. SMOOTHC names the compiler to ask, which is target/release/smoothc otherwise, or target/debug/smoothc.
"""

import os
import pathlib
import resource
import subprocess
import sys
import tempfile

try:
    import casadi
    from casadi import SX, Function, cos, gradient, jacobian, log, sin, sqrt, vertcat
except ImportError:
    print("skipped: CasADi is not installed (pip install casadi)")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "size.md"

# the flags of `smoothc run`
FLAGS = ["-O3", "-march=native", "-fopenmp-simd", "-fno-math-errno", "-fno-trapping-math", "-ffp-contract=fast", "-DSMOOTH_SIMD"]

# longer than this is not waited for
LIMIT = 60


def cross(a, b):
    return vertcat(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])


def distorted(camera, p):
    r = p[0] ** 2 + p[1] ** 2
    scale = 1 + camera[9] * r + camera[10] * r * r
    return vertcat(camera[7], camera[8]) + p * scale * camera[6]


def projected(camera, x):
    r = camera[0:3]
    theta = sqrt(r[0] ** 2 + r[1] ** 2 + r[2] ** 2)
    w = r / theta
    x = x - camera[3:6]
    rotated = x * cos(theta) + cross(w, x) * sin(theta) + w * (casadi.dot(w, x) * (1 - cos(theta)))
    return distorted(camera, vertcat(rotated[0], rotated[1]) / rotated[2])


def dot(n):
    v, w = SX.sym("v", n), SX.sym("w", n)
    return [v, w], [gradient(casadi.dot(v, w), v)]


def vector_sum(n):
    v = SX.sym("v", n)
    return [v], [casadi.densify(gradient(casadi.sum1(v), v))]


def add(n):
    v, w = SX.sym("v", n), SX.sym("w", n)
    return [v, w], [jacobian(v + w, v)]


def smul(n):
    v, s = SX.sym("v", n), SX.sym("s")
    return [v, s], [jacobian(v * s, s)]


def total(n):
    m, v = SX.sym("M", n, n), SX.sym("v", n)
    return m, v, casadi.sum1(m @ v)


def in_vector(n):
    m, v, t = total(n)
    return [m, v], [gradient(t, v)]


def in_matrix(n):
    m, v, t = total(n)
    return [m, v], [gradient(t, m)]


def rotation(n):
    q, p = SX.sym("q", 4, n), SX.sym("p", 3, n)
    rows = []
    for i in range(n):
        both = SX.sym("x", 7)
        a, point = both[1:4], both[4:7]
        t = 2 * cross(a, point)
        rotated = point + t * both[0] + cross(a, t)
        found = jacobian(rotated, both)
        rows.append(casadi.substitute(found, both, vertcat(q[:, i], p[:, i])))
    return [q, p], rows


def factorization(n):
    a, u, v = SX.sym("A", n, n), SX.sym("u", n), SX.sym("v", n)
    expected = u @ v.T
    return a, u, v, casadi.sum1(casadi.sum2(log(expected) + a / expected))


def in_v(n):
    a, u, v, t = factorization(n)
    return [a, u, v], [gradient(t, v)]


def in_u(n):
    a, u, v, t = factorization(n)
    return [a, u, v], [gradient(t, u)]


def camera(n):
    c, x = SX.sym("cam", 11), SX.sym("x", 3, n)
    return [c, x], [jacobian(projected(c, x[:, i]), c) for i in range(n)]


def bundle(n):
    # each observation has a camera and a point of its own: where they are is for the caller
    c, x, w, seen = SX.sym("cameras", 11, n), SX.sym("points", 3, n), SX.sym("w", n), SX.sym("seen", 2, n)
    rows = []
    for i in range(n):
        all_of = SX.sym("all", 15)
        r, inner = all_of[0:3], all_of[11:14] - all_of[3:6]
        square = r[0] ** 2 + r[1] ** 2 + r[2] ** 2
        theta = sqrt(square)
        axis = r / theta
        far = inner * cos(theta) + cross(axis, inner) * sin(theta) + axis * (casadi.dot(axis, inner) * (1 - cos(theta)))
        rotated = casadi.if_else(square != 0, far, inner + cross(r, inner))
        residual = all_of[14] * (distorted(all_of, vertcat(rotated[0], rotated[1]) / rotated[2]) - seen[:, i])
        found = jacobian(residual, all_of)
        rows.append(casadi.substitute(found, all_of, vertcat(c[:, i], x[:, i], w[i])))
    return [c, x, w, seen], rows


# workload, program, entry, CasADi's expressions, two sizes
WORKLOADS = [
    ("gradient of dot", "dot", "dotGradient", dot, (100, 1000)),
    ("gradient of vectorSum", "vector_sum", "sumGradient", vector_sum, (100, 1000)),
    ("Jacobian of v + w", "add", "addJacobian", add, (100, 1000)),
    ("d(v * s)/ds", "smul", "smulDerivative", smul, (100, 1000)),
    ("gradient of sum(M v) in v", "matrix_vector", "gradientInVector", in_vector, (10, 100)),
    ("gradient of sum(M v) in M", "matrix_vector", "gradientInMatrix", in_matrix, (10, 100)),
    ("quaternion rotation", "quaternion", "rotationJacobians", rotation, (1, 100)),
    ("NNMF gradient in v", "nnmf", "gradientV", in_v, (10, 100)),
    ("NNMF gradient in u", "nnmf", "gradientU", in_u, (10, 100)),
    ("camera Jacobian", "camera", "cameraJacobian", camera, (1, 100)),
    ("bundle adjustment", "bundle", "reprojectionJacobians", bundle, (1, 100)),
]


def smoothc():
    named = os.environ.get("SMOOTHC")
    built = [ROOT / "target" / kind / "smoothc" for kind in ("release", "debug")]
    found = [named] if named else [str(path) for path in built if path.exists()]
    if not found:
        sys.exit("there is no smoothc: cargo build --release")
    return found[0]


def spent():
    """Processor time of what has run, which other work on the machine does not lengthen."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def measured(folder, text):
    """Lines, bytes of the object, seconds; None for the last two where the compiler takes too long."""
    source, target = folder / "x.c", folder / "x.o"
    source.write_text(text)
    seconds = []
    for _ in range(3):
        start = spent()
        try:
            command = [os.environ.get("CC", "gcc"), "-std=c99", *FLAGS, "-c", source, "-o", target]
            subprocess.run(command, check=True, timeout=LIMIT)
        except subprocess.TimeoutExpired:
            return len(text.splitlines()), None, None
        seconds.append(spent() - start)
        # what takes long varies little
        if seconds[0] > 5:
            break
    return len(text.splitlines()), target.stat().st_size, min(seconds)


def casadis(folder, make, size):
    inputs, outputs = make(size)
    function = Function("f", inputs, outputs)
    here = os.getcwd()
    os.chdir(folder)
    try:
        function.generate("f.c")
    finally:
        os.chdir(here)
    return (folder / "f.c").read_text()


def cells(lines, size, seconds):
    if size is None:
        return f"{lines:,} | | more than {LIMIT} s"
    return f"{lines:,} | {size:,} | {seconds:.2f} s"


def main():
    rows, slowest = [], 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for workload, program, entry, make, sizes in WORKLOADS:
            command = [smoothc(), "emit", "--entry", entry, str(ROOT / "benches" / f"{program}.smooth")]
            text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            ours = measured(folder, text)
            slowest = max(slowest, ours[2])
            rows.append(f"| {workload} | any | smoothc | {cells(*ours)} |")
            for size in sizes:
                theirs = measured(folder, casadis(folder, make, size))
                rows.append(f"| {workload} | {size:,} | CasADi | {cells(*theirs)} |")
            print("\n".join(rows[-3:]), flush=True)
    compiler = subprocess.run([os.environ.get("CC", "gcc"), "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    PAGE.write_text(
        "# The size of emitted C\n\n"
        f"Made by `python3 benches/size.py`. The C that smoothc emits for the benchmarks beside what CasADi {casadi.__version__} generates for the\n"
        "same derivatives: lines, bytes of the object, and the processor time of the C compiler, the least of three runs. CasADi's functions\n"
        "are for one size each, made from scalar expressions (`SX`) with one assignment for each operation, so they grow with it; a\n"
        "matrix is square, and a batch of rotations, points or observations is written out. CasADi stores only the elements of a\n"
        "Jacobian that are not zero; ours writes all of it, checks its arguments and has its parameters in comments. Both are\n"
        f"compiled by {compiler} with the flags of `smoothc run`, `-O3` among them. The goal is 2 s for ours;\n"
        f"the slowest takes {slowest:.2f} s.\n\n"
        "| workload | size | by | lines of C | object bytes | C compiler |\n| --- | --: | --- | --: | --: | --: |\n" + "\n".join(rows) + "\n"
    )


main()
