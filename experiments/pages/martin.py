"""Text, tables, figures and pictures of `martin`."""

import numpy as np

from .. import martin
from ..martin import CUBE, CUBE_MASS, HIS, MAJOR, MINOR, POINT_MASS, RADIUS, RUNS, SETTINGS, STIFFEST, loss_per_step
from ..parts import FRAME_RATE
from ..pictures import BLUE, GREEN, GREY, ORANGE
from ..report import COLOURS, Claim, label_lines, number

HEADING = "Martin 2009: soft and rigid bodies in real time"
FRAMES, SETTINGS_HEADING, BODIES, FOUND, FLIGHT = (
    "6.3: frames per second", "6.4: two settings", "6.5: bodies in contact", "5.2: what the particles find",
    "4.1: rigid bodies by Euler-Cromer",
)  # fmt: skip
DEPENDS = (
    "core/papers/*.py", "core/papers/particles/*.py", "core/solvers/sequential/*.py",
    "experiments/parts.py",
)  # fmt: skip
COLOUR = (BLUE, GREEN, ORANGE, (0.6, 0.3, 0.65))


def claims(data):
    runs = {name: scene["runs"]["as published"] for name, scene in data["benchmarks"].items()}
    stable = [name for name, row in runs.items() if "error" not in row]
    slowest = min((runs[name]["frames_per_second"], name) for name in stable)
    shares = [found["share"][8] for found in data["particles"].values() if found["share"][8] is not None]
    most = [found["share"][1] for found in data["particles"].values() if found["share"][1] is not None]
    energy, momentum = (np.abs(part).max() for part in data["tumble"]["Euler-Cromer"])
    ours = [np.abs(part).max() for part in data["tumble"]["ours"]]
    return [
        Claim(
            "Martin, 6.3", "RK4 at 60 Hz with damping is stable and fast enough for games",
            f"{len(stable)} of {len(runs)} scenes are stable with one step per frame; the slowest "
            f"({slowest[1]}) runs at {number(slowest[0], 2)} frames per second",
            f"his damping takes {100 * loss_per_step(SETTINGS[0][1]):.0f} % of the velocity in each step", FRAMES,
        ),
        Claim(
            "Martin, 5.2", "one particle per eight vertices finds the contacts",
            f"{100 * min(shares):.0f} to {100 * max(shares):.0f} % of the vertices that touch; with one per vertex "
            f"{100 * min(most):.0f} to {100 * max(most):.0f} %",
            "particles gather in the same places, and only what one rests on is tested", FOUND,
        ),
        Claim(
            "Martin, 4.1", "Euler-Cromer moves rigid bodies",
            f"a tumbling box errs by {number(100 * energy, 2)} % in energy and {number(100 * momentum, 2)} % in "
            f"angular momentum; ours by {number(100 * ours[0], 2)} and {number(100 * ours[1], 2)} %",
            "free flight by the closed form keeps both", FLIGHT,
        ),
    ]  # fmt: skip


def add(page, data):
    moles, spring = SETTINGS[0]
    page.text(
        """Skins of equal springs and point masses are filled with an ideal gas, moved by a fourth-order method for the
        velocity and damped in every step; particles that migrate over the skins find the contacts. Each step of 1/60 s
        takes a share ρ of the velocity:"""
    )
    page.equation(r"v' = v - \rho v, \qquad \rho = \rho_g + (1 - \rho_g)\,k / k_{max}")
    page.text(
        f"""*What was run.* All that he describes, on together: RK4 (3.2) with one step per frame of 1/60 s, damping
        (3.1.3) with k_max = {STIFFEST:g} N/m, so ρ = {loss_per_step(spring):.3f} at k = {spring:g}, valence scaling
        (3.1.2), particles (5.2) and a ground plane. Spheres of 8 stacks and slices ({RADIUS:g} m), a torus of 16 and 16
        ({MAJOR:g} and {MINOR:g} m), cubes ({CUBE:g} m, {CUBE_MASS:g} kg); n = {moles:g}, {POINT_MASS:g} kg per point, R
        T = 8.31 J/mol, nothing outside."""
    )
    add_frames(page, data["benchmarks"])
    add_settings(page, data["settings"])
    add_gallery(page, data["gallery"])
    add_particles(page, data["particles"])
    add_tumble(page, data["tumble"])


def add_frames(page, scenes):
    page.heading(FRAMES, 3)

    def draw(axes):
        names = list(scenes)
        rows = np.arange(len(names))
        axes.plot([HIS[name] for name in names], rows, "k|", markersize=14, markeredgewidth=2, label="Martin's machine")
        for run, mark, colour in zip(RUNS, "osD", COLOURS[: len(RUNS)], strict=True):
            rates = [scenes[name]["runs"][run].get("frames_per_second", np.nan) for name in names]
            axes.plot(rates, rows, mark, color=colour, label=run)
        axes.axvline(FRAME_RATE, color="grey", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_yticks(
            rows, [f"{name} ({scenes[name]['runs']['as published'].get('touching', 0):.0f})" for name in names]
        )
        axes.invert_yaxis()
        axes.set_xlabel("frames per second")
        axes.legend(ncols=3, loc="lower center", bbox_to_anchor=(0.3, 1.0), frameon=False)

    page.figure(
        "martin",
        """Frames of 1/60 s per second, by scene; in brackets the vertices that touch another body, with his method. The
        grey line is real time.""",
        draw,
    )
    failed = [name for name, scene in scenes.items() if "error" in scene["runs"]["as published"]]
    ratio = [
        scene["runs"]["surface contact"]["frames_per_second"] / scene["runs"]["as published"]["frames_per_second"]
        for name, scene in scenes.items()
        if "contact" in name and not any("error" in row for row in scene["runs"].values())
    ]
    page.text(
        f"""*Verdict.* {"Every scene is" if not failed else f"All scenes but {', '.join(failed)} are"} stable as
        published, with one step per frame. Where bodies touch, a frame with particles takes
        {number(float(np.mean(ratio)), 2)} times as long as one with the search of the surfaces, which misses
        nothing."""
    )


def add_settings(page, data):
    page.heading(SETTINGS_HEADING, 3)
    rows = []
    for (moles, spring, run), found in data["rows"].items():
        rows.append(
            [f"n = {moles:g}, k = {spring:g}", run, *(number(found[k]) for k in ("volume_ratio", "pressure", "shape"))]
        )
    page.table(["setting", "solver", "V/V0", "pressure [Pa]", "height / width"], rows)

    def build(picture):
        for place, (moles, spring) in enumerate(SETTINGS):
            x = data["rows"][moles, spring, "as published"]["positions"]
            shift = np.array([3.6 * RADIUS * place - x[:, 0].mean(), -x[:, 1].mean(), 0.0])
            picture.mesh(x + shift, data["triangles"], BLUE)
        ground = np.array([(-2.0, -1.6, 0.0), (5.6, -1.6, 0.0), (5.6, 1.6, 0.0), (-2.0, 1.6, 0.0)])
        picture.mesh(RADIUS * ground, [(0, 1, 2, 3)], GREY)

    page.picture(
        "martin_settings", f"As his figure of 6.4: n = 100, k = 150, and n = 1, k = 10, after {data['seconds']:g} s.",
        build, turn=(78.0, 0.0),
    )  # fmt: skip
    page.text(
        "*Verdict.* As in his figure: with much gas a ball, with little a cushion; our engine, with damping of another "
        "kind, agrees."
    )


def add_gallery(page, scenes):
    page.heading(BODIES, 3)
    page.text(
        """The four scenes of his figure, as published; particles are
        drawn as small white balls. His cat is not published, so another animal was made."""
    )
    for place, (name, found) in enumerate(scenes.items()):
        if "error" in found:
            page.text(f"{name}: diverged with one step per frame.")
            continue

        def build(picture, found=found):
            x = found["positions"]
            for body, triangles in enumerate(found["bodies"]):
                colour = GREY if body >= found["skins"] else COLOUR[body % len(COLOUR)]
                picture.mesh(x, triangles, colour)
            picture.balls(found["particles"], 0.07 * RADIUS, (0.98, 0.98, 0.98))

        page.picture(
            f"martin_bodies_{place + 1}",
            f"{name[0].upper()}{name[1:]} after {found['seconds']:g} s; touching vertices: {found['touching']}.", build,
            turn=(62.0, 25.0),
        )  # fmt: skip


def add_particles(page, scenes):
    page.heading(FOUND, 3)
    page.text(
        """In each step, before the response moves anything: the vertices nearer to another skin than its thickness, by
        brute force, and the share of them in features that the particles name."""
    )

    def draw(axes):
        for (name, found), colour in zip(scenes.items(), COLOURS, strict=False):
            points = [(1.0 / per, share) for per, share in found["share"].items() if share is not None]
            if points:
                axes.plot(*zip(*points, strict=True), "o-", color=colour, label=f"{name} ({found['touching']:.0f})")
        axes.axvline(1.0 / 8.0, color="grey", linewidth=0.8)
        axes.set_xscale("log", base=2)
        axes.set_xticks([1.0 / per for per in martin.PER_PARTICLE], [f"1/{per}" for per in martin.PER_PARTICLE])
        axes.set_ylim(0.0, 1.05)
        axes.set_xlabel("particles per vertex")
        axes.set_ylabel("share found")
        label_lines(axes)

    page.figure(
        "martin_particles",
        "Share of the touching vertices that particles find; in brackets how many touch. The grey line is his number.",
        draw,
    )


def add_tumble(page, runs):
    page.heading(FLIGHT, 3)

    def draw(energy, momentum):
        for axes, part in ((energy, 0), (momentum, 1)):
            for (name, errors), colour in zip(runs.items(), COLOURS, strict=False):
                times = np.arange(len(errors[part])) / FRAME_RATE
                axes.plot(times, 100.0 * errors[part], color=colour, label=name)
            axes.set_xlabel("time [s]")
        energy.set_ylabel("error of the energy [%]")
        momentum.set_ylabel("error of the angular momentum [%]")
        label_lines(energy)
        label_lines(momentum)

    page.figure(
        "martin_tumble", "A box of 3 : 2 : 1 tumbles about its middle axis, one turn per second, 60 steps per second.",
        draw, panels=2,
    )  # fmt: skip
    page.text(
        """*Verdict.* Euler-Cromer lets energy and angular momentum drift, so rigid bodies fly by the closed form
        instead: angular momentum is kept and the energy of rotation does not drift away."""
    )
