"""Text and tables of `martin`."""

from ..martin import CUBE, CUBE_MASS, MAJOR, MINOR, SETTINGS, damping_rate
from ..report import number

HEADING = "Martin 2009: soft and rigid bodies in real time"
DEPENDS = ("core/papers/*.py", "core/papers/particles/*.py", "core/solvers/sequential/*.py", "experiments/parts.py")


def claims(data):
    return []


def add(page, data):
    moles, spring = SETTINGS[0]
    page.text(
        f"""His meshes: spheres of 8 stacks and 8 slices, a torus of 16 and 16, cubes of 12 triangles; n = {moles:g}, k
        = {spring:g}, and his damping (3.1.3), {damping_rate(spring):.1f} /s at this k. He gives no size, mass or
        temperature. Here: spheres of {data["radius"]:g} m, torus of {MAJOR:g} and {MINOR:g} m, cubes of {CUBE:g} m and
        {CUBE_MASS:g} kg, {data["point_mass"]:g} kg per point, R in SI units and T = 1 K, nothing outside. Bodies lie
        on a floor; those in contact in a tray that is too narrow for them once they are inflated."""
    )
    page.heading("6.3: frames per second", 3)
    page.text(
        """Frames of 1/60 s per second (substeps, contacts that press at the end). `RK4_MARTIN` takes the fewest
        substeps that keep the scene stable for half a second; he takes one. His column is from the paper: another
        machine, a frame counter watched on the screen, and contacts by particles, as in `RK4_MARTIN, particles` (5.2);
        the others use the surface contact of the core."""
    )
    scenes = data["benchmarks"]
    methods = list(next(iter(scenes.values()))["runs"])
    rows = []
    for name, found in scenes.items():
        cells = []
        for method in methods:
            run = found["runs"][method]
            if "error" in run:
                cells.append("diverged")
                continue
            cells.append(f"{number(run['frames_per_second'], 2)} ({run['substeps']}, {run['contacts']})")
        rows.append([name, found["points"], found["his"], *cells])
    page.table(["scene", "points", "Martin, on his machine", *(f"`{method}`" for method in methods)], rows)

    def draw(axes):
        width = 0.8 / (len(methods) + 1)
        columns = [("Martin 2009", [found["his"] for found in scenes.values()])]
        for method in methods:
            columns.append((method, [run["runs"][method].get("frames_per_second", 0.0) for run in scenes.values()]))
        for k, (name, heights) in enumerate(columns):
            axes.barh([row + k * width for row in range(len(scenes))], heights, height=width, label=name)
        axes.set_yticks([row + 0.3 for row in range(len(scenes))], list(scenes), fontsize=6)
        axes.set_xscale("log")
        axes.xaxis.set_minor_formatter("")
        axes.invert_yaxis()
        axes.set_xlabel("frames per second")
        axes.legend(fontsize=6, ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0))

    page.figure("martin", "Frames of 1/60 s per second.", draw)
    add_particles(page, scenes)
    page.heading("6.4: two settings", 3)
    page.text(f"One sphere on a floor, after {data['settings']['seconds']:g} s.")
    rows = []
    for (moles, spring, method), found in data["settings"]["rows"].items():
        start = [f"n = {moles:g}, k = {spring:g}", f"`{method}`", found["substeps"]]
        if "error" in found:
            rows.append([*start, "diverged", "", ""])
        else:
            rows.append([*start, *(number(found[name]) for name in ("volume_ratio", "pressure", "shape"))])
    page.table(["setting", "solver", "substeps", "V/V0", "pressure [Pa]", "height / width"], rows)


def add_particles(page, scenes):
    page.heading("5.2: what the particles find", 3)
    page.text(
        """Vertices of a skin that are nearer to another skin than its thickness (a sixth of its radius), by brute
        force, and the share of them that belong to a feature which the particles (one per eight vertices) report.
        Means over the second half of the run."""
    )
    rows = []
    for name, found in scenes.items():
        if "particles" not in found:
            continue
        if "error" in found["particles"]:
            rows.append([name, "diverged", ""])
        else:
            rows.append([name, *(number(found["particles"][key]) for key in ("touching", "share"))])
    page.table(["scene", "touching vertices", "share found"], rows)
