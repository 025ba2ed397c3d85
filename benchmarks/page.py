"""The page of the benchmarks: tables, figures and fitted exponents, from the results alone."""

import numpy as np

from ..experiments.figures import COLOURS, number
from .drawn_page import add_drawn
from .engines import ENGINES
from .first_start_page import add_first_start
from .hold_page import add_hold
from .report import Page

TITLES = {
    "drop": (
        "A ball falls on a floor",
        "Vertices of one ball of 0.5 m, which falls 0.5 m. Without its weight, which presses it flat below, V / V0 "
        "would be 1.043.",
    ),
    "pair": ("Two balls", "A ball falls 0.2 m on another one. Vertices of each."),
    "box8": ("Eight balls in a box", "They fall 0.5 m into an open box 2.2 m wide. Vertices of each."),
    "torus": (
        "A torus through a slit",
        "A torus, 0.3 m thick, falls on edge into a slit 0.26 m wide; the top of the slabs is 1.5 m, their underside "
        "1 m over the floor, where the height says whether it came through. No friction.",
    ),
    "suzanne": ("Suzanne", "Blender's monkey, closed, falls 0.5 m on the floor."),
    "stack": ("Boxes", "Rigid boxes of 0.5 m fall 0.25 m and come to rest on each other."),
    "crate": (
        "A rigid box on a ball",
        "A box of 5 kg, 0.2 m high, falls on a ball of 10 kg. Its height tells whether the ball carries it (1 m).",
    ),
}
#: Times [ms] and memory [MB] below this are not drawn: nothing can be said of their growth.
LEAST = 0.5
#: Column -> how a case fills it; those that say nothing in a scene are left out of its table.
COLUMNS = {
    "vertices": lambda c: number_of(c["size"]),
    "engine": lambda c: c["label"] + (f" {c['version']}" if c.get("version") else ""),
    "ms per simulated second": lambda c: (
        number(c["ms_per_second"]) + ("" if c["frames_done"] == c["frames"] else f" † {c['limit']:.0f} s")
    ),
    "runs": lambda c: str(len(c["runs"])),
    "frames": lambda c: str(c["frames_done"]),
    "processor ms": lambda c: number(c["ms_per_second"] * c["cpu_per_clock"]),
    "threads": lambda c: str(c["threads"]),
    "peak memory, of which the scene [MB]": lambda c: f"{c['peak_mb']:.0f}, {max(c['scene_mb'], 0):.0f}",
    "free fall": lambda c: percent(c["free_fall_error"]),
    "V / V0 at the end": lambda c: number(c["volume_ratio_end"]),
    "against the gas law": lambda c: percent(c["volume_error"]),
    "deepest [mm]": lambda c: millimetres(c["deepest"]),
    "motion left [mm/s]": lambda c: millimetres(c["rest_speed"]),
    "height at the end [m]": lambda c: number(c["height_end"]),
}


def number_of(count):
    """A count with its thousands apart."""
    return f"{count:,}".replace(",", "\u202f")


def percent(share):
    """A share in per cent, with its sign; a dash for none."""
    if share is None:
        return "–"
    return "0 %" if abs(share) < 5e-5 else f"{'+' if share > 0.0 else '−'}{number(abs(100.0 * share), 2)} %"


def millimetres(metres):
    """A length in millimetres; a dash for none."""
    return "–" if metres is None else "0" if metres < 1e-7 else number(1e3 * metres, 2)


def exponent(sizes, values):
    """Slope of log(value) over log(size), `None` for fewer than two sizes or where something is nothing."""
    if len(sizes) < 2 or min(values) <= 0.0:
        return None
    return float(np.polyfit(np.log(sizes), np.log(values), 1)[0])


def curves(cases, key):
    """Engine -> sizes and values of the cases that were not cut off."""
    found = {}
    for case in cases:
        if "error" not in case and case["finite"] and case["frames_done"] == case["frames"] and case[key] > LEAST:
            sizes, values = found.setdefault(case["engine"], ([], []))
            sizes.append(case["size"])
            values.append(case[key])
    return found


def write(path, results):
    """Write the page and its figures."""
    page = Page(path.with_suffix(""))
    page.heading("Benchmarks", 1)
    opening(page, results)
    add_drawn(page, path.with_suffix(""))
    for scene in TITLES:
        cases = [case for case in results["cases"] if case["scene"] == scene]
        if cases:
            add_scene(page, scene, cases)
    add_hold(page, path.with_suffix(""))
    add_first_start(page, path.with_suffix(""))
    missing(page, results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n\n".join(page.blocks) + "\n", encoding="utf-8")


def opening(page, results):
    """How it was measured, and on what."""
    machine = results["machine"]
    load = machine.get("load_at_start", 0.0)
    busy = ""
    if load > 0.3 * machine["cores"]:
        busy = " It was busy with other work, so times are good for ratios, and those to some tens of per cent."
    short = " This is the short form: the smallest sizes, once, for a few frames." if results["quick"] else ""
    if results.get("several_runs"):
        short += " It was put together from several runs, so not all of its cases took turns."
    page.text(
        f"This page is written by `nox -s bench`; every number and figure comes from its run.{short}",
        f"Machine: {machine['processor']}, {machine['cores']} cores, {machine['system']}, Python {machine['python']}, "
        f"numpy {machine['numpy']}, numba {machine['numba']}; load {load} at the start.{busy} "
        f"Run time: {number(results['minutes'], 2)} min.",
        "All engines get the same meshes, masses and edge springs: soft bodies of 10 kg, 10⁴ N/m in every edge, a gas "
        "of 1 000 Pa · V0 / V, nothing outside; a frame is 0.0316 s, the only one that Blender's Cloth has (boxes: "
        "1/30 s). Each run has a process of its own; the engines take turns, and figures are medians. Only stepping is "
        "timed, on the clock, compilation apart. The number of runs is in the table: "
        f"{results['rounds']} at most, fewer of long cases. † cut off after so many seconds of stepping, or not "
        "finite; another engine that was cut off does not get the next size.",
    )
    page.items(
        [
            "ms per simulated second, on the clock; processor ms: the same of all threads together, which other "
            "programs disturb less; threads: how many an engine may use.",
            "free fall: how far the body fell in the last frame before it meets something, against g t² / 2.",
            "against the gas law: mean volume of the last ten frames, worst body, against the closed form of the ball "
            "without weight.",
            "deepest: deepest vertex (of boxes: corner) inside another body or the floor, every third frame.",
            "motion left: root mean square speed in the last frame.",
        ]
    )
    settings = {}
    for case in results["cases"]:
        if "settings" in case:
            settings.setdefault(case["label"], []).append(case["settings"])
    page.text("Settings that are not the engine's defaults, or that say what its step is:")
    page.items([f"{label}: {'; or '.join(dict.fromkeys(said))}." for label, said in settings.items()])


def add_scene(page, scene, cases):
    """A table of one scene, and curves where there are two sizes."""
    title, text = TITLES[scene]
    page.heading(title)
    page.text(text)
    good = [case for case in cases if "error" not in case]
    columns = {name: fill for name, fill in COLUMNS.items() if any(fill(case) != "–" for case in good)}
    if scene not in ("torus", "crate"):
        columns.pop("height at the end [m]", None)
    head = ["boxes" if name == "vertices" and scene == "stack" else name for name in columns]
    rows = [
        [fill(case) for fill in columns.values()]
        if "error" not in case
        else [number_of(case["size"]), case["label"], "failed", *["–"] * (len(columns) - 3)]
        for case in cases
    ]
    page.table(head, rows)
    notes = [f"{c['label']}, {number_of(c['size'])}: {c['error']}" for c in cases if "error" in c]
    notes += [f"{c['label']}, {number_of(c['size'])}: not finite" for c in good if not c["finite"]]
    if notes:
        page.items(notes)
    if len({case["size"] for case in good}) > 1:
        kinds = {"ms_per_second": "ms per simulated second", "scene_mb": "memory of the scene [MB]"}
        kinds = kinds if scene == "drop" else {"ms_per_second": kinds["ms_per_second"]}
        across = "boxes" if scene == "stack" else "vertices of a body"
        caption = f"{title}: {' and '.join(kinds.values())} over {across}, with the fitted exponents."
        slopes = {name: exponent(*curve) for name, curve in curves(good, "ms_per_second").items()}
        said = [f"{ENGINES[name].label} {number(slope)}" for name, slope in slopes.items() if slope is not None]
        if said:
            page.text(f"Time grows with the power of {across}: {', '.join(said)}.")
        page.figure(scene, caption, lambda *axes: draw(axes, good, kinds, across), panels=len(kinds))


def draw(axes, cases, kinds, across):
    """One panel for each kind of value, one curve for each engine."""
    colours = dict(zip(ENGINES, COLOURS, strict=False))
    for panel, (key, label) in zip(axes, kinds.items(), strict=True):
        for name, (sizes, values) in curves(cases, key).items():
            slope = exponent(sizes, values)
            said = ENGINES[name].label + ("" if slope is None else f": {slope:.2f}")
            panel.loglog(sizes, values, "o-", color=colours[name], label=said)
        # what was measured, and nothing between: labels of tenths would lie on each other
        measured = sorted({case["size"] for case in cases})
        panel.set_xticks(measured, [f"{size:,}".replace(",", " ") for size in measured])
        panel.set_xticks([], minor=True)
        panel.set_xlabel(across)
        panel.set_ylabel(label)
        panel.grid(True, which="both", alpha=0.3)
        panel.legend(fontsize=7)


def missing(page, results):
    """What is not on the page."""
    page.heading("Not measured")
    items = [f"{ENGINES[name].label}: not installed." for name in results["not_installed"]]
    items += [
        "PyBullet's soft bodies: its Python interface gives them no pressure.",
        "Rapier keeps a volume instead of a gas; it is given the closed form's, so its volume says only whether it "
        "holds.",
        "Blender's Soft Body has no gas either, and vertices of 1 kg: lighter ones blow up. Its volume is that of its "
        "springs.",
        "Blender's rigid bodies do not feel Cloth: there a box falls through the ball as if it were not there, and the "
        "ball gives way.",
        "Triangles of a body that cross each other, and edges that cross without a vertex inside.",
    ]
    page.items(items)
