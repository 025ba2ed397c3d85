"""A table of what the steps of each frame tell of each island of bodies, as a CSV file."""

import csv
from pathlib import Path
from types import TracebackType

import bpy

from . import diagnosis, session

#: One row per frame and island.
COLUMNS = (
    "scene", "frame", "bodies", "steps", "contacts", "pairs", "normal force [N]", "least gap [m]", "residual",
    "least step share", "least step share of", "energy change [J]", "reasons",
)  # fmt: skip


class Trace:
    """A CSV file that is written while scenes are simulated; a context, at the end of which it is closed.

    Raises `OSError` with a sentence where the file cannot be written: before anything is simulated.
    """

    def __init__(self, path: Path) -> None:
        try:
            self._file = path.open("w", newline="", encoding="utf-8")
        except OSError as error:
            raise OSError(
                f"{path}: the trace cannot be written ({error.strerror}). "
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

    def add(self, scene: bpy.types.Scene) -> None:
        """All frames of a scene that were simulated in this session."""
        names = diagnosis.object_names(scene)
        for frame, reports in sorted(session.of(scene).reports.items()):
            for report in reports:
                pairs = report.pairs
                self._writer.writerow(
                    (
                        scene.name,
                        frame,
                        _names(report.bodies, names),
                        report.steps,
                        report.contacts,
                        "; ".join(f"{_names(pair.bodies, names)}: {pair.contacts}" for pair in pairs),
                        f"{sum(pair.force for pair in pairs):.6g}",
                        f"{min(pair.gap for pair in pairs):.6g}" if pairs else "",
                        "" if report.residual is None else f"{report.residual:.6g}",
                        f"{report.least_share:.6g}",
                        _names(report.least_pair, names),
                        f"{report.energy_change:.6g}",
                        " ".join(report.texts(names)),
                    )
                )
        self._file.flush()


def _names(bodies: tuple[int, ...], names: list[str]) -> str:
    return " + ".join(names[body] for body in dict.fromkeys(bodies))
