"""Cost of contact as the number of vertices grows, phase by phase.

    python benchmarks/contact.py [--pairs 1 2 4 ...] [--json FILE]

Pairs of flattened balls of 2 562 vertices lie in a lattice, each ball pressed against its partner over a tenth of its
skin, so the share of vertices in contact stays the same while their number grows from 5 000 to 160 000. Each phase is
timed by itself on the clock (median of the repeats). The fitted exponent is the slope of log(time) over log(vertices).
Needs numpy and numba, no Blender.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

import measure
import numpy as np
import shapes
from softpressure_ext.core import ModelBuilder
from softpressure_ext.core.contact.broad_phase.search import ContactSearch
from softpressure_ext.core.contact.contacts import Contacts
from softpressure_ext.core.contact.filter.closing_part import remove_closing
from softpressure_ext.core.contact.filter.time_of_impact import limit_pairs
from softpressure_ext.core.contact.inverse_mass import InverseMass
from softpressure_ext.core.contact.narrow_phase.vertex_triangle import evaluate_gaps

SUBDIVISIONS = 4
RADIUS = 0.1
PAIRS = (1, 2, 4, 8, 16, 32)
#: Height of the flat cap on a ball [m]: a tenth of its vertices lie on it.
CAP = 0.8 * RADIUS
#: What a search must cover, and the gap between partners, in thicknesses of a ball.
REACH, GAP = 1.0, 1.0


def pairs_of_balls(pair_count):
    """The model; its rest positions are the scene."""
    positions, triangles = shapes.icosphere(SUBDIVISIONS, RADIUS)
    edge = np.linalg.norm(positions[triangles[:, 0]] - positions[triangles[:, 1]], axis=1).mean()
    thickness = 0.05 * edge
    upper = positions.copy()
    upper[:, 2] = np.maximum(upper[:, 2], -CAP)
    turn = np.array([[np.cos(0.3), -np.sin(0.3), 0.0], [np.sin(0.3), np.cos(0.3), 0.0], [0.0, 0.0, 1.0]])
    lower = positions @ turn.T
    lower[:, 2] = np.minimum(lower[:, 2], CAP)
    builder = ModelBuilder()
    side = round(np.ceil(pair_count ** (1.0 / 3.0)))
    cells = list(np.ndindex(side, side, side))[:pair_count]
    for cell in cells:
        at = 4.5 * RADIUS * np.array(cell)
        builder.add_membrane(f"Upper {cell}", upper + at + [0.0, 0.0, CAP + GAP * thickness], triangles)
        builder.add_membrane(f"Lower {cell}", lower + at - [0.0, 0.0, CAP], triangles)
    return builder.build()


def time_phases(pair_count, repeats):
    """Milliseconds per phase, and what was found."""
    model = pairs_of_balls(pair_count)
    x = model.rest_positions.copy()
    contacts, search = Contacts(model.moving_point_count), ContactSearch(model)
    reach = REACH * model.thickness
    mobility = InverseMass(
        1.0 / model.vertex_mass, model.rigid.unknown, model.rigid.arm, model.rigid.mass, model.rigid.inverse_inertia
    )
    n, island = model.vertex_count, np.arange(model.moving_count)
    rng = np.random.default_rng(2)
    times = {phase: [] for phase in ("search", "gaps", "remove closing", "limit", "still valid")}

    def run(phase, function):
        began = time.perf_counter()
        function()
        times[phase].append(1e3 * (time.perf_counter() - began))

    for repeat in range(repeats + 1):
        step = rng.normal(0.0, 0.2, (model.unknown_count, 3)) * model.thickness[0]
        run("search", lambda: search.search(x, reach, contacts))
        run("gaps", lambda: evaluate_gaps(x, contacts, model.surfaces))
        run("remove closing", lambda step=step: remove_closing(step, mobility, contacts))
        braked = np.zeros(contacts.capacity, np.int32)
        run(
            "limit",
            lambda step=step, braked=braked: limit_pairs(
                x, step[:n], np.zeros(0), n, contacts.count, contacts.points, contacts.kind, contacts.apex,
                contacts.side, contacts.bodies, contacts.distance, island, np.ones(len(island)), braked,
            ),
        )  # fmt: skip
        run("still valid", lambda: search.still_valid(x))
        if repeat == 0:  # compiled, and room made
            for values in times.values():
                values.clear()
    touching = contacts.gap[: contacts.count] < contacts.thickness[: contacts.count]
    return {
        "pairs": pair_count,
        "vertices": model.vertex_count,
        "candidates": contacts.count,
        "contacts": int(np.count_nonzero(touching)),
        "ms": {phase: round(statistics.median(values), 3) for phase, values in times.items()},
    }


def exponent(sizes, values):
    """Slope of log(value) over log(size)."""
    return round(float(np.polyfit(np.log(sizes), np.log(values), 1)[0]), 3)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, nargs="+", default=list(PAIRS))
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", type=Path, help="write the result here too")
    options = parser.parse_args()
    rows = []
    for count in options.pairs:
        rows.append(time_phases(count, options.repeats))
        row = rows[-1]
        found = f"{row['vertices']} vertices, {row['candidates']} candidates, {row['contacts']} contacts"
        print(f"{found}, ms: {row['ms']}", file=sys.stderr, flush=True)
    report = {"machine": measure.machine(), "repeats": options.repeats, "results": rows}
    if len(rows) > 1:
        sizes = [row["vertices"] for row in rows]
        report["exponents"] = {phase: exponent(sizes, [row["ms"][phase] for row in rows]) for phase in rows[0]["ms"]}
        report["exponents"]["sum"] = exponent(sizes, [sum(row["ms"].values()) for row in rows])
        report["exponents"]["candidates"] = exponent(sizes, [row["candidates"] for row in rows])
    text = json.dumps(report, indent=2)
    print(text)
    if options.json:
        options.json.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
