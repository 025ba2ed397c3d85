"""Text and table of `matyka`."""

from ..matyka import BALL, BOUNCINESS, DROP
from ..report import number


def add(page, data):
    page.heading("Matyka 2004, section 6 and appendix B: Euler or Heun?")
    page.text(
        f"""A ball of {data["points"]} points ({BALL.radius:g} m, {BALL.mass:g} kg, {BALL.gauge_pressure:g} Pa,
        {BALL.stretch_modulus:g} N/m), a skin in space instead of his loop in a plane, falls {DROP:g} m on a floor with
        bounciness {BOUNCINESS:g}. Longest step [µs] with which {number(data["seconds"], 2)} s pass without
        divergence and without gaining more energy than the fall has. Its stiffest oscillation at rest has ω =
        {number(data["frequency"])} /s, so theory allows {
            number(1e6 * data["angles"]["EXPLICIT_EULER"] / data["frequency"])
        } µs for Euler and, for growth by less than a ten-thousandth per step,
        {number(1e6 * data["angles"]["HEUN"] / data["frequency"])} µs for Heun."""
    )
    rows = []
    for damping in sorted({damping for _, damping in data["steps"]}):
        euler, heun = (data["steps"][method, damping] for method in ("EXPLICIT_EULER", "HEUN"))
        cells = ["none found" if step is None else number(1e6 * step) for step in (euler, heun)]
        rows.append([f"{damping:g}", *cells, f"{heun / euler:.2f}" if euler and heun else "–"])
    page.table(["damping [1/s]", "Euler", "Heun", "Heun / Euler"], rows)
    page.text(
        """Appendix B hopes that Heun's method allows larger steps. Euler's, as he writes it, moves the points with the
        new velocity: that makes it symplectic, and it keeps what rings. Heun's lets it grow with the fourth power of
        the step, needs two evaluations of the forces per step, and is of the second order."""
    )
