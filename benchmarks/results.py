"""What the engines did, for the page of the benchmarks: tables, figures and fitted exponents."""

import numpy as np

from ..experiments.figures import COLOURS
from ..tools.pages import items, number, table, told_machine
from .engines import ENGINES

#: Scenes, and what their figure is called.
TITLES = {
    "drop": "A ball falls on a floor", "pair": "Two balls", "box8": "Eight balls in a box", "stack": "Boxes",
    "torus": "A torus through a slit", "suzanne": "Suzanne", "crate": "A rigid box on a ball",
}  # fmt: skip
#: Times [ms] and memory [MB] below this are not drawn: nothing can be said of their growth.
LEAST = 0.5
#: Column -> how a case fills it; those that say nothing in a scene are left out of its table.
COLUMNS = {
    "vertices": lambda c: number_of(c["size"]),
    "engine": lambda c: f"{c['label']} {c['version']}".rstrip(),
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
    "height at the end [m]": lambda c: number(c["height_end"]) if c["scene"] in ("torus", "crate") else "–",
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


def kinds_of(scene, cases):
    """What is drawn of a scene, by its key in a case, and over what; nothing of a single size."""
    kinds = {"ms_per_second": "ms per simulated second"}
    kinds |= {"scene_mb": "memory of the scene [MB]"} if scene == "drop" else {}
    several = len({case["size"] for case in cases if "error" not in case}) > 1
    return kinds if several else {}, "boxes" if scene == "stack" else "vertices of a body"


def values(data):
    """What stands in the text; nothing for scenes that were not run."""
    machine, settings = data["machine"], {}
    form = "It is the short form: the smallest sizes, once, for a few frames." if data["quick"] else ""
    form = "It was put together from several runs: not all cases took turns." if data.get("several_runs") else form
    load = f"Its load was {machine['load_at_start']} at the start."
    if machine["load_at_start"] > 0.3 * machine["cores"]:
        load += " It was busy with other work, so times are good for ratios, and those to some tens of per cent."
    for case in data["cases"]:
        if "settings" in case:
            settings.setdefault(case["label"], []).append(case["settings"])
    found = {
        "form": form, "machine": f"{told_machine(data)}, numpy {machine['numpy']}", "load": load,
        "minutes": number(data["minutes"], 2), "rounds": data["rounds"],
        "settings": items(f"{label}: {'; or '.join(dict.fromkeys(said))}." for label, said in settings.items()),
        "not_installed": items(f"{ENGINES[name].label}: not installed." for name in data["not_installed"]),
    }  # fmt: skip
    for scene in TITLES:
        cases = [case for case in data["cases"] if case["scene"] == scene]
        found[scene] = told(scene, cases) if cases else None
    return found


def told(scene, cases):
    """A table of one scene, how times grow, and a figure where there are two sizes."""
    good = [case for case in cases if "error" not in case]
    columns = {name: fill for name, fill in COLUMNS.items() if any(fill(case) != "–" for case in good)}
    rows = [
        [fill(case) for fill in columns.values()]
        if "error" not in case
        else [number_of(case["size"]), case["label"], "failed", *["–"] * (len(columns) - 3)]
        for case in cases
    ]
    blocks = [table(["boxes" if name == "vertices" and scene == "stack" else name for name in columns], rows)]
    why = {False: "not finite", True: ""}
    notes = [(case, case.get("error") or why[case["finite"]]) for case in cases]
    blocks += [items(f"{c['label']}, {number_of(c['size'])}: {said}" for c, said in notes if said)]
    kinds, across = kinds_of(scene, cases)
    if kinds:
        slopes = {name: exponent(*curve) for name, curve in curves(good, "ms_per_second").items()}
        said = [f"{ENGINES[name].label} {number(slope)}" for name, slope in slopes.items() if slope is not None]
        blocks += [f"Time grows with the power of {across}: {', '.join(said)}." if said else ""]
        caption = f"{TITLES[scene]}: {' and '.join(kinds.values())} over {across}, with the fitted exponents."
        blocks += [f"![{caption}](benchmarks/{scene}.png)"]
    return "\n\n".join(filter(None, blocks))


def draw(figures, data):
    """The figure of each scene of several sizes."""
    for scene in TITLES:
        cases = [case for case in data["cases"] if case["scene"] == scene]
        kinds, across = kinds_of(scene, cases)
        if kinds:
            figures.curves(scene, lambda *axes, c=cases, k=kinds, a=across: draw_scene(axes, c, k, a), len(kinds))


def draw_scene(axes, cases, kinds, across):
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
        panel.set(xlabel=across, ylabel=label)
        panel.grid(True, which="both", alpha=0.3)
        panel.legend(fontsize=7)
