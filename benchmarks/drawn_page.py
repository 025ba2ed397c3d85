"""The section on drawn meshes with default settings, for the page of the benchmarks."""

import json

from ..experiments.figures import number


def add_drawn(page, folder):
    """The section from the file of `drawn_meshes.py` in a folder; nothing where there is none."""
    path = folder / "drawn.json"
    if not path.exists():
        return
    found = json.loads(path.read_text(encoding="utf-8"))
    page.heading("Any mesh, with default settings")
    page.text(
        """`benchmarks/drawn_meshes.py`: each mesh is made 2 m large and falls 0.2 m on a floor. Ours simulate an even
        mesh at the details NORMAL and DRAFT, with self-contact; Blender's Cloth has quality 5, the same mass, stiffness
        and gas, and no self-contact. ms per frame of 1/24 s on the clock, in the first two seconds; in brackets how
        many times as fast as Cloth. Less than 1: **Cloth is faster there**. Start: s from *Add Soft Body* to the first
        frame at NORMAL."""
    )
    rows = []
    for row in found["rows"]:
        cloth = row["CLOTH"]["ms_per_frame"]
        ours = [row[detail]["ms_per_frame"] for detail in ("NORMAL", "DRAFT")]
        told = [f"{number(each, 2)} ({number(cloth / each, 2)})" for each in ours]
        rows.append([row["mesh"], f"{row['drawn']:,}", *told, number(cloth, 2), number(row["NORMAL"]["start"], 2)])
    page.table(["mesh", "drawn vertices", "NORMAL", "DRAFT", "Cloth", "start"], rows)
