"""The section on pressure that is kept, for the page of the benchmarks."""

import json

from ..experiments.figures import number

LABELS = {"EXPLICIT": "Soft Pressure", "XPBD": "XPBD", "CLOTH": "Blender's Cloth"}


def add_hold(page, folder):
    """The section from the file of `hold.py` in a folder; nothing where there is none."""
    path = folder / "hold.json"
    if not path.exists():
        return
    found = json.loads(path.read_text(encoding="utf-8"))
    truth, meshes, cells = found["truth"], sorted({row["vertices"] for row in found["rows"]}), {}
    for row in found["rows"]:
        name = LABELS[row["method"]] + (f" ({row['substeps']})" if row["method"] == "XPBD" else "")
        told = f"{row['volume_ratio']:.4f}, {row['gauge_pressure'] / 1e3:.1f} kPa, {number(row['ms_per_frame'], 2)} ms"
        cells.setdefault(name, {})[row["vertices"]] = told
    page.heading("Does a ball keep its pressure?")
    page.text(
        f"""`benchmarks/hold.py`: a basketball (0.12 m, 0.6 kg, 55 kPa, 10⁵ N/m) is set down, inflated, on a floor.
        Closed form without weight: V / V0 = {truth["volume_ratio"]:.4f}, {truth["gauge_pressure"] / 1e3:.1f} kPa.
        V / V0 and pressure are means over the last 20 of 60 frames of 1/60 s; times are medians over the first 20,
        before a body falls asleep. In brackets substeps of XPBD. A sweep over the edges makes them as stiff as m / h²
        at most, and vertices are lighter on a finer mesh, so XPBD loses the pressure. Cloth has its gas fitted to ours,
        its stiffness set by hand for each mesh, 5 steps per 0.0316 s, and no gauge that would tell the pressure."""
    )
    page.table(
        ["", *(f"{count} vertices" for count in meshes)],
        [[name, *(own.get(count, "–") for count in meshes)] for name, own in cells.items()],
    )
