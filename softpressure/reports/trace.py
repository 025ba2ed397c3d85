"""A table of what each body measures in each frame, and the step report of its island, as a CSV file."""

import csv
from collections.abc import Collection
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING

import bpy
import numpy as np

from ..state import measurements, sessions
from . import diagnosis

if TYPE_CHECKING:
    from ...core import StepReport

#: Columns of the island that a body is part of, in frames that were simulated since the file was opened.
_ISLAND = (
    "island", "contacts", "pairs", "least gap [m]", "least step share", "least step share of", "reasons",
)  # fmt: skip
#: One row per frame and moving body.
COLUMNS = ("scene", "frame", "body", *(column.heading for column in measurements.COLUMNS), *_ISLAND)


class Trace:
    """A CSV file that is written while scenes are simulated; a context, at the end of which it is closed.

    Raises `OSError` with a sentence where the file cannot be written: before anything is simulated.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("w", newline="", encoding="utf-8")
        except OSError as error:
            raise OSError(
                f"{path}: the table cannot be written ({error.strerror}). "
                "Give the path of a file in a folder that exists and may be written."
            ) from error
        self._writer = csv.writer(self._file)
        self._writer.writerow(COLUMNS)

    def __enter__(self) -> "Trace":
        return self

    def __exit__(
        self, _kind: type[BaseException] | None, _error: BaseException | None, _where: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, scene: bpy.types.Scene, uids: Collection[int] | None = None) -> None:
        """All frames of a scene that are recorded; of the bodies with these `session_uid`, of all without."""
        run = sessions.of(scene).run
        names, by_uid = diagnosis.object_names(scene), {obj.session_uid: obj.name for obj in scene.objects}
        for frame, rows in sorted(run.measured.items()):
            island = {body: report for report in run.reports.get(frame, ()) for body in report.bodies}
            for body, (uid, row) in enumerate(zip(run.object_uids, rows, strict=True)):
                if uids is None or uid in uids:
                    cells = [f"{value:.6g}" if np.isfinite(value) else "" for value in row.tolist()]
                    cells += _cells(island[body], names) if body in island else [""] * len(_ISLAND)
                    self._writer.writerow((scene.name, frame, by_uid.get(uid, diagnosis.GONE), *cells))
        self._file.flush()


def _cells(report: "StepReport", names: list[str]) -> list[str]:
    """The cells of an island's report."""
    pairs = report.pairs
    return [
        _names(report.bodies, names),
        str(report.contacts),
        "; ".join(f"{_names(pair.bodies, names)}: {pair.contacts}" for pair in pairs),
        f"{min(pair.gap for pair in pairs):.6g}" if pairs else "",
        f"{report.least_share:.6g}",
        _names(report.least_pair, names),
        " ".join(report.texts(names)),
    ]


def _names(bodies: tuple[int, ...], names: list[str]) -> str:
    return " + ".join(names[body] for body in dict.fromkeys(bodies))
