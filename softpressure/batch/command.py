"""`blender --command softpressure bake FILE.blend`, `export` or `sweep`: simulate and keep it, without a window."""

import argparse
import contextlib
import math
import sys
from pathlib import Path
from typing import Any, NoReturn

import bpy

from ..exporting import formats
from ..reports.trace import Trace
from ..scene_io import units
from ..state import jobs, sessions
from . import headless, sweep, sweep_case

_handles: list[Any] = []


class _Parser(argparse.ArgumentParser):
    """A parser that says on one line what is wrong."""

    def error(self, message: str) -> NoReturn:
        """Called by argparse with what is wrong."""
        self.exit(2, f"softpressure: {message} (see `blender --command softpressure --help`)\n")


def _frame_range(text: str) -> tuple[int, int]:
    with contextlib.suppress(ValueError):
        first, last = map(int, text.split(":"))
        if first <= last:
            return first, last
    raise argparse.ArgumentTypeError(f"{text!r} is not a frame range; write first and last frame as --frames=1:250")


def _length(text: str) -> float:
    with contextlib.suppress(ValueError):
        if 0.0 <= float(text) < math.inf:
            return float(text)
    raise argparse.ArgumentTypeError(f"{text!r} is not a length; write a number of metres as --error=0.001")


_FILE: dict[str, Any] = {"type": Path, "help": "the .blend file"}
_FOLDER: dict[str, Any] = {"type": Path, "help": "the folder of the sweep"}
_FRAMES: dict[str, Any] = {
    "type": _frame_range, "metavar": "A:B", "help": "first and last frame (default: the file's)",
}  # fmt: skip
#: Each action and its arguments. A sweep runs all; other programs hand out its cases and collect them.
_ACTIONS: dict[str, tuple[str, dict[str, dict[str, Any]]]] = {
    "bake": ("simulate the scene and bake it to shape keys and keyframes", {
        "file": _FILE,
        "--frames": _FRAMES,
        "--output": {"type": Path, "metavar": "OUT.blend", "help": "default: FILE_baked.blend beside the file"},
        "--trace": {"type": Path, "metavar": "FILE.csv", "help": "a table of volume, pressure, forces, energy and "
                    "steps, with reasons, a row per frame and body"},
    }),
    "export": ("simulate the scene and write its motion or a table", {
        "file": _FILE,
        "output": {"type": Path, "help": "the file to write: .abc, .usdc, .glb, .fbx, .pc2, .mdd or .csv"},
        "--frames": _FRAMES,
        "--error": {"type": _length, "metavar": "METRES",
                    "help": "largest error of shape keys in .glb and .fbx (default: the file's)"},
    }),
    "sweep": ("simulate a file with each combination of values of settings", {
        "file": _FILE,
        "--set": {"action": "extend", "nargs": "+", "required": True, "metavar": "NAME.SETTING=VALUES",
                  "help": "of an object, or of the scene as Scene.SETTING, by their names for scripts; values as 1,2,5 "
                  "or 1..10:5, which is five from 1 to 10; a component of a vector as Ball.velocity[2]"},
        "--zip": {"action": "store_true", "help": "take the first values of all lists, then the second"},
        "--frames": _FRAMES,
        "--output": {"type": Path, "metavar": "FOLDER", "help": "default: FILE_sweep beside the file"},
        "--workers": {"type": int, "default": 1, "metavar": "N", "help": "processes at the same time (default: 1)"},
        "--plan": {"action": "store_true", "help": "only write the plan, for other programs to run its cases"},
    }),
    "sweep-case": ("simulate one case of a sweep", {
        "folder": _FOLDER, "name": {"help": "the name of the case, or its number in the plan, from 1"},
    }),
    "sweep-collect": ("write the table and contact sheet of a sweep", {"folder": _FOLDER}),
}  # fmt: skip


def _parse(arguments: list[str]) -> argparse.Namespace:
    """Read the words after `softpressure`; raises `SystemExit` once it has said why not, or how."""
    parser = _Parser(prog="blender --command softpressure", description="Soft Pressure without a window.")
    actions = parser.add_subparsers(dest="action", required=True)
    for name, (text, words) in _ACTIONS.items():
        action = actions.add_parser(name, help=text)
        for word, options in words.items():
            action.add_argument(word, **options)
    return parser.parse_args(arguments)


def run(arguments: list[str]) -> int:
    """The command itself: 0 done, 1 could not be done, 2 not understood; an error is one line on stderr."""
    try:
        options = _parse(arguments)
        match options.action:
            case "bake":
                said, failed = bake(options.file, options.frames, options.output, options.trace), 0
            case "export":
                said, failed = export(options.file, options.output, options.frames, options.error), 0
            case "sweep":
                said, failed = _sweep(options)
            case "sweep-case":
                said, failed = sweep_case.run_case(options.folder, options.name), 0
            case _:
                said, failed = sweep.collect(options.folder)
    except SystemExit as end:
        return int(end.code or 0)
    except Exception as error:  # whatever goes wrong, a script that calls Blender gets one line and an exit code
        print(f"softpressure: {headless.sentence_of(error)}", file=sys.stderr)
        return 1
    print(f"softpressure: {said}")
    return 1 if failed else 0


def _sweep(options: argparse.Namespace) -> tuple[str, int]:
    """Plan a sweep, and run and collect its cases unless only the plan is wanted."""
    folder = sweep.prepare(options.file, options.set, options.zip, options.frames, options.output)
    if options.plan:
        return f"wrote {folder / sweep_case.PLAN}", 0
    for _, _, line in jobs.whole(sweep.run(folder, options.workers)):
        print(f"softpressure: {line}", flush=True)
    return sweep.collect(folder)


def bake(
    file: Path, frames: tuple[int, int] | None = None, output: Path | None = None, trace: Path | None = None
) -> str:
    """Open `file`, simulate and bake its scenes with bodies, save to `output`; returns a line for the console.

    The given file is left as it is unless it is the output, too. Bakes it already holds are made anew. `trace`: a CSV
    file of each step (`trace.py`); then cached frames are simulated anew, too.
    """
    from ..baking.bake import bake as bake_scene
    from ..baking.bake import free

    target = (output or file.with_name(f"{file.stem}_baked.blend")).resolve()
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent}: no such folder. Create it first.")
    if trace is not None and trace.resolve() in (file.resolve(), target):
        raise ValueError(f"{trace}: the trace would replace the .blend file. Give another path.")
    scenes = headless.open_file(file, frames)
    with Trace(trace) if trace else contextlib.nullcontext() as table:
        for scene in scenes:
            free(scene)
            headless.show_progress(scene, headless.simulate(scene, table))
            headless.show_progress(scene, bake_scene(scene))
        bpy.ops.wm.save_as_mainfile(filepath=str(target), copy=True)
    return f"saved {target}"


def export(file: Path, output: Path, frames: tuple[int, int] | None = None, error: float | None = None) -> str:
    """Open `file`, simulate what is not cached or baked, and write the motion of its scene with bodies to `output`.

    `error`: largest error of relative shape keys [m], for formats that have them. Returns a line for the console. The
    given file is left as it is.
    """
    from ..exporting.export import export as export_scene

    formats.of(output)
    target = output.resolve()
    scenes = headless.open_file(file, frames)
    if len(scenes) > 1:
        names = ", ".join(scene.name for scene in scenes)
        raise ValueError(f"{file}: its scenes {names} all hold bodies; a file holds one. Keep one of them in the file.")
    (scene,) = scenes
    if error is not None:
        scene.softpressure.key_error = error / units.metres_per_unit(scene)
    with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
        if not sessions.baked(scene):
            headless.show_progress(scene, headless.simulate(scene, None))
        headless.show_progress(scene, export_scene(scene, target))
    return f"wrote {target}"


def register() -> None:
    """Make the command known to Blender."""
    _handles.append(bpy.utils.register_cli_command("softpressure", run))


def unregister() -> None:
    """Take it back."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
