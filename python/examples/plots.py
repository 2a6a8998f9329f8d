"""Draws the fits of docs/pictures.md: `python python/examples/plots.py [FOLDER]`, by default `docs/pictures`.

In: programs, and data that are made here from fixed seeds. Out: a picture in SVG for each fit, and a line that says what was found.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import numpy.typing as npt
from bundle_adjustment import Fit, Problem
from scipy.integrate import solve_ivp  # type: ignore[import-untyped,unused-ignore]
from scipy.optimize import least_squares, minimize  # type: ignore[import-untyped,unused-ignore]

import smoothc
from smoothc._compiler import run

matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402
from matplotlib.patches import Circle  # noqa: E402

ROOT = Path(__file__).parents[2]
Floats = npt.NDArray[np.float64]

DATA, FITTED, START = "#222222", "#1f6fb4", "#d9822b"

STYLE: Any = {
    # text is text, and the same run gives the same file
    "svg.fonttype": "none",
    "svg.hashsalt": "smoothc",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "font.size": 9,
    "legend.frameon": False,
    "lines.linewidth": 1.5,
    "path.simplify_threshold": 0.5,
}

PROGRAM = """
/// The function of Rosenbrock: a curved valley with its floor at (1, …, 1).
let valley (x: Vector<n>) : Double =
  vectorSum (build (n - 1) (fun i -> 100.0 * (x[i + 1] - x[i] * x[i]) ** 2.0 + (1.0 - x[i]) ** 2.0))

/// The reaction of Robertson: three substances, and rates that differ by nine powers of ten.
let rates (y: Vector<3>) : Vector<3> =
  let slow = 0.04 * y[0]
  let back = 1.0e4 * y[1] * y[2]
  let fast = 3.0e7 * y[1] * y[1]
  [back - slow, slow - back - fast, fast]
"""


def circle(folder: Path) -> str:
    """A circle through noisy points of an arc, by the Hessian of the misfit."""
    m = smoothc.load(ROOT / "examples" / "circle.smooth", derive="hessian:misfit:circle")
    rng = np.random.default_rng(1)
    angles = rng.uniform(-0.5, 2.5, 40)
    points = np.column_stack([1 + 2 * np.cos(angles), 2 + 2 * np.sin(angles)]) + rng.normal(0, 0.08, (40, 2))
    steps = [np.array([0.0, 0.0, 1.0])]
    found = minimize(m.misfit, steps[0], (points,), "trust-exact", m.slope, m.misfit_hessian_circle, callback=lambda x: steps.append(x.copy()))
    figure, (plane, fall) = pyplot.subplots(1, 2, figsize=(7, 3.2), width_ratios=[1, 1.1])
    for at, (x, y, radius) in enumerate(steps):
        is_last, share = at == len(steps) - 1, (at + 1) / len(steps)
        colour = FITTED if is_last else START
        plane.add_patch(Circle((x, y), radius, fill=False, color=colour, alpha=1 if is_last else 0.2 + 0.6 * share, lw=2 if is_last else 1))
    plane.plot(*points.T, ".", color=DATA, ms=4)
    plane.set(aspect="equal", xlim=(-2.2, 4.2), ylim=(-1.8, 4.6), title="the points, each step, and the fit")
    _falling(fall, [m.misfit(step, points) for step in steps], "misfit")
    _save(figure, folder, "circle")
    return "circle: centre ({:.2f}, {:.2f}), radius {:.2f}".format(*found.x)


def bundle(folder: Path) -> str:
    """Cameras that look at a spiral from all sides, and the points of the spiral, by the sparse Jacobian."""
    rng = np.random.default_rng(2)
    turns = np.linspace(0, 4 * np.pi, 60)
    points = np.column_stack([np.cos(turns), np.linspace(-1, 1, 60), np.sin(turns)])
    # rotation, translation, focal length, distortion
    cameras = np.array([[0.05, angle, 0.03, 0, 0, -5, 500, -0.05, 0.01] for angle in np.linspace(-0.9, 0.9, 5)])
    camera, point = (index.ravel() for index in np.mgrid[:5, :60])
    truth = Fit(Problem(cameras, points, camera, point, np.zeros((camera.size, 2))))
    seen = truth.residuals(truth.start).reshape(-1, 2) + rng.normal(0, 0.5, (camera.size, 2))
    cameras = cameras + rng.normal(0, [0.01, 0.01, 0.01, 0.05, 0.05, 0.1, 5, 0, 0], cameras.shape)
    fit = Fit(Problem(cameras, points + rng.normal(0, 0.08, points.shape), camera, point, seen))
    steps: list[Floats] = []

    def jacobian(x: Floats) -> Any:
        steps.append(x.copy())
        return fit.jacobian(x)

    found = least_squares(fit.residuals, fit.start, jacobian, tr_solver="lsmr", x_scale="jac", ftol=1e-6)
    figure, (plane, fall) = pyplot.subplots(1, 2, figsize=(7, 3.2), width_ratios=[1, 1.1])
    own = camera == 0
    before, after = ((fit.residuals(x).reshape(-1, 2) + seen)[own] for x in (fit.start, found.x))
    gap = np.full_like(before, np.nan)
    plane.plot(*np.stack([before, seen[own], gap], axis=1).reshape(-1, 2).T, color=START, lw=0.6)
    plane.plot(*before.T, ".", color=START, ms=4, label="start")
    plane.plot(*seen[own].T, "o", mfc="none", mec=DATA, ms=5, mew=0.7, label="seen")
    plane.plot(*after.T, ".", color=FITTED, ms=4, label="fit")
    plane.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3)
    plane.set(aspect="equal", title="one picture of five")
    _falling(fall, [0.5 * float(np.sum(fit.residuals(x) ** 2)) for x in steps], "half the sum of squares")
    _save(figure, folder, "bundle")
    error = [np.sqrt(np.mean(fit.residuals(x) ** 2)) for x in (fit.start, found.x)]
    return f"bundle adjustment: 5 cameras, 60 points: the error of a coordinate was {error[0]:.1f} pixels and is {error[1]:.2f}"


def stiff(folder: Path) -> str:
    """A stiff system, by the Jacobian of its rates."""
    m = smoothc.compile(PROGRAM, derive="jacobian:rates")
    end = 1e5
    found = solve_ivp(lambda t, y: m.rates(y), (0, end), [1, 0, 0], method="BDF", jac=lambda t, y: m.rates_jacobian(y), rtol=1e-6, atol=1e-10)
    figure, (substances, sizes) = pyplot.subplots(1, 2, figsize=(7, 3.2))
    for values, name, colour in zip([found.y[0], 1e4 * found.y[1], found.y[2]], ["$y_1$", "$10^4 y_2$", "$y_3$"], [DATA, START, FITTED]):
        substances.semilogx(found.t[1:], values[1:], color=colour, label=name)
    substances.set(xlabel="time", title="three substances", xlim=(1e-5, end))
    substances.legend()
    sizes.loglog(found.t[1:], np.diff(found.t), color=FITTED)
    sizes.set(xlabel="time", title="the length of the steps", xlim=(1e-5, end))
    _save(figure, folder, "stiff")
    return "stiff system: at time 1e5 there are {:.4f}, {:.2e} and {:.4f}".format(*found.y[:, -1])


def minimum(folder: Path) -> str:
    """The way down a curved valley, with the Hessian and without any derivative."""
    m = smoothc.compile(PROGRAM, derive=["gradient:valley", "hessian:valley"])
    start = np.array([-1.2, 1.0])
    figure, (plane, fall) = pyplot.subplots(1, 2, figsize=(7, 3.2), width_ratios=[1.1, 1])
    x, y = np.meshgrid(np.linspace(-1.6, 1.5, 40), np.linspace(-0.6, 1.6, 40))
    heights = np.array([m.valley(point) for point in np.column_stack([x.ravel(), y.ravel()])]).reshape(x.shape)
    plane.contour(x, y, heights, levels=[4, 20, 80, 250], colors="#bbbbbb", linewidths=0.7)
    ways = {
        "gradient and Hessian": ("trust-exact", {"jac": m.valley_gradient, "hess": m.valley_hessian}, FITTED),
        "no derivative": ("Nelder-Mead", {}, START),
    }
    ends = []
    for name, (method, derivatives, colour) in ways.items():
        steps = [start]
        found = minimize(m.valley, start, method=method, callback=lambda x, steps=steps: steps.append(x.copy()), **derivatives)
        plane.plot(*np.array(steps).T, ".-", color=colour, ms=3, lw=1)
        fall.semilogy([max(m.valley(step), 1e-16) for step in steps], color=colour, label=name)
        ends.append(found.x)
    plane.set(title="the way")
    fall.set(xlabel="step", title="height over the floor")
    fall.legend(loc="lower right")
    _save(figure, folder, "minimum")
    return "minimum: ({:.3f}, {:.3f})".format(*ends[0])


KINDS = ("operations on Doubles", "comparisons", "reads", "writes")


def costs(text: str, n: int) -> list[tuple[str, list[int]]]:
    """Of a derivation, as ``smoothc explain`` prints it, each phase that changes the cost, and the cost by kind at ``n``."""
    found: list[tuple[str, list[int]]] = []
    phase = ""
    for line in text.splitlines():
        head = re.match(r"── (\S+) ──", line)
        phase = head[1] if head else phase
        cost = re.match(r"  cost: (?:at most )?[^:]*: (.*)", line)
        if cost:
            parts = dict(re.findall(r"(?:^|, )(\D+) ([^,]+)", cost[1]))
            counts = [sum(_term(term, n) for term in parts.get(kind, "0").split(" + ")) for kind in KINDS]
            if not found or counts != found[-1][1]:
                found.append((phase, counts))
    return found


def _term(term: str, n: int) -> int:
    """`4864 n` or `121`."""
    number, _, size = term.partition(" ")
    return int(number) * (n if size else 1)


def derivation(folder: Path) -> str:
    """What each phase of the optimiser does for the Jacobian of a camera."""
    n = 100
    m = smoothc.load(ROOT / "examples" / "project.smooth", entries="jacobianAll")
    phases = costs(m.jacobianAll.explain().text, n)
    figure, axes = pyplot.subplots(figsize=(7, 3.2))
    left = np.zeros(len(phases))
    places = -np.arange(len(phases))
    for kind, colour, amounts in zip(KINDS, [FITTED, DATA, START, "#8c8c8c"], np.array([counts for _, counts in phases]).T):
        axes.barh(places, amounts, left=left, color=colour, height=0.7, label=kind)
        left += amounts
    for place, whole in zip(places, left):
        axes.text(float(whole + left[0] / 100), float(place), f"{int(whole):,}", va="center")
    axes.set_yticks(places, [phase for phase, _ in phases])
    axes.set(title=f"{n} points, 11 parameters: what the Jacobian costs after each phase")
    axes.xaxis.set_major_formatter("{x:,.0f}")
    axes.legend(loc="lower right")
    _save(figure, folder, "derivation")
    return f"derivation: more than {left[0] / left[-1] // 10 * 10:.0f} times less work"


HOUSE = (
    ("types", "core language", "the program, typed"),
    ("mode", "core language", "columns or rows"),
    ("ad", "core language", "the derivative"),
    ("rewrite", "core language", "optimised by rules"),
    ("plan", "core language", "which loops there will be"),
    ("lower", "loop program", "destinations"),
    ("loops", "loop program", "lanes, tiles, peels"),
    ("emit", "C", "what is compiled"),
)


def house(folder: Path) -> str:
    """The rooms that a program goes through, and how long it is when it leaves each."""
    words = []
    for stage, _, _ in HOUSE:
        options = ["--target", "c", "--entry", "jacobianAll", "--dump", stage]
        text, _ = run(["emit", str(ROOT / "examples" / "project.smooth"), *options])
        words.append(len(text.split()))
    figure, axes = pyplot.subplots(figsize=(7, 3.6))
    colours = {"core language": FITTED, "loop program": START, "C": DATA}
    places = -np.arange(len(HOUSE))
    for place, (_, language, what), count in zip(places, HOUSE, words):
        axes.barh(place, count, color=colours[language], height=0.7)
        axes.text(count + max(words) / 100, float(place), f"{what}, {count:,} words", va="center")
    for language in colours:
        axes.barh(0, 0, color=colours[language], label=language)
    for place in places[:-1]:
        axes.annotate("", xy=(0, place - 0.62), xytext=(0, place - 0.38), arrowprops={"arrowstyle": "->"}, annotation_clip=False)
    axes.set_yticks(places, [stage for stage, _, _ in HOUSE])
    axes.set(title="The Jacobian of a camera, and how long it is behind each room", xlim=(0, 1.5 * max(words)))
    axes.xaxis.set_visible(False)
    axes.spines[["bottom", "left"]].set_visible(False)
    axes.tick_params(left=False)
    axes.legend(loc="upper right")
    _save(figure, folder, "house")
    return f"house: {len(HOUSE)} rooms"


def _falling(axes: Any, values: list[float], name: str) -> None:
    axes.semilogy(values, "o-", color=FITTED, ms=4)
    axes.set(xlabel="step", title=name)
    axes.xaxis.get_major_locator().set_params(integer=True)


def _save(figure: Any, folder: Path, name: str) -> None:
    figure.tight_layout()
    figure.savefig(folder / f"{name}.svg", metadata={"Date": None, "Creator": None})
    pyplot.close(figure)


PICTURES = (circle, bundle, stiff, minimum, derivation, house)


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with matplotlib.rc_context(STYLE):
        for draw in PICTURES:
            print(draw(folder))


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "pictures")
