"""Sections on the first start for the page of the benchmarks: from the zip to a frame, and the cost of compiling."""

import json

from ..experiments.figures import number

STEPS = {
    "install": "installed, first frame",
    "later": "a later session",
    "compile": "zip without kernels: compiled on the machine",
}


def add_first_start(page, folder):
    """Sections from the files of `first_start.py` and `compile.py` in a folder; nothing where there are none."""
    for name, add in {"first_start": _add_times, "compile": _add_compiling}.items():
        path = folder / f"{name}.json"
        if path.exists():
            add(page, json.loads(path.read_text(encoding="utf-8")))


def _add_times(page, rows):
    page.heading("From the zip to the first frame")
    page.text(
        "`benchmarks/first_start.py`, the built zip in real Blender without a window: a UV sphere becomes a soft body "
        "above a plane, and the timeline goes to the second frame. Enabling includes installing the zip in the first "
        "row of a Blender. Memory is the most that Blender ever had, and the most that the process beside it had which "
        "compiles. Load is that of the machine at the end of a row: 1 is a quiet one. `before` has no kernels in its "
        "zip: it compiled in Blender itself, what the first frame calls before it and the rest during the frames after."
    )
    head = ["version", "Blender", "", "enabled [s]", "first frame [s]", "processor, Blender + compiling [s]"]
    head += ["memory, Blender + compiling [MB]", "a frame after that [ms]", "load"]
    page.table(
        head,
        [
            [
                row["label"],
                row["blender"],
                STEPS[row["step"]],
                number(row["enabled"], 2),
                number(row["first_frame"], 3),
                f"{number(row['processor'], 2)} + {number(row['child_processor'], 2)}",
                f"{row['memory']:.0f} + {row['child_memory'] if row['step'] == 'compile' else 0:.0f}",
                number(1e3 * row["frame"], 2),
                number(row["load"], 2),
            ]
            for row in rows
        ],
    )


def _add_compiling(page, found):
    page.heading("What compiling costs")
    page.text(
        f"`nox -s compile`: the method {found['solver']}, into an empty folder, Python {found['machine']['python']}, "
        f"load {found['machine'].get('load_at_start', 0.0)} at the start. Each part is compiled after those above it, "
        f"without what they needed. All files: {found['size']:.1f} MB."
    )
    page.table(
        ["part", "processor [s]", "kernels", "memory so far [MB]"],
        [[row["part"], number(row["seconds"]), row["kernels"], f"{row['memory']:.0f}"] for row in found["parts"]],
    )
    page.text(f"The {len(found['kernels'])} dearest kernels, without those compiled for them:")
    page.table(
        ["kernel", "processor [s]", "memory [MB]", "signatures"],
        [[f"`{name}`", number(row[0], 2), f"{row[1]:.0f}", row[2]] for name, row in found["kernels"]],
    )
