"""`blender --command softpressure bake FILE.blend`, `export` or `sweep`: simulate and keep it, without a window."""

import argparse
import math
import sys
from pathlib import Path
from typing import Any, NoReturn

import bpy

from ..exporting import formats
from ..reports.trace import Trace
from ..scene_io import units
from ..state import jobs, sessions
from . import headless

_handles: list[Any] = []


class _UsageError(Exception):
    """The words after `softpressure` make no sense; the message says why."""


class _Parser(argparse.ArgumentParser):
    """A parser that raises instead of ending Blender."""

    def error(self, message: str) -> NoReturn:
        """Called by argparse with what is wrong."""
        raise _UsageError(f"{message} (see `blender --command softpressure --help`)")


def frame_range(text: str) -> tuple[int, int]:
    """Read `A:B`, the first and last frame."""
    first, colon, last = text.partition(":")
    try:
        frames = int(first), int(last)
    except ValueError:
        frames = 0, -1
    if not colon or frames[0] > frames[1]:
        raise argparse.ArgumentTypeError(f"{text!r} is not a frame range; write first and last frame as --frames=1:250")
    return frames


def length(text: str) -> float:
    """Read a length, which must not be negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a length; write a number of metres as --error=0.001")
    return value


def count(text: str) -> int:
    """Read a whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a count; write a whole number from 1 as --workers=2")
    return int(text)


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the words after `softpressure`; raises `_UsageError`."""
    parser = _Parser(prog="blender --command softpressure", description="Soft Pressure without a window.")
    actions = parser.add_subparsers(dest="action", required=True, parser_class=_Parser)
    bake = actions.add_parser("bake", help="simulate the scene and bake it to shape keys and keyframes")
    bake.add_argument("file", type=Path, help="the .blend file")
    bake.add_argument("--frames", type=frame_range, metavar="A:B", help="first and last frame (default: the file's)")
    bake.add_argument("--output", type=Path, metavar="OUT.blend", help="default: FILE_baked.blend beside the file")
    bake.add_argument(
        "--trace",
        type=Path,
        metavar="FILE.csv",
        help="a table of volume, pressure, forces, energy and steps, with reasons, a row per frame and body",
    )
    export = actions.add_parser("export", help="simulate the scene and write its motion or a table")
    export.add_argument("file", type=Path, help="the .blend file")
    export.add_argument("output", type=Path, help="the file to write: .abc, .usdc, .glb, .fbx, .pc2, .mdd or .csv")
    export.add_argument("--frames", type=frame_range, metavar="A:B", help="first and last frame (default: the file's)")
    export.add_argument(
        "--error",
        type=length,
        metavar="METRES",
        help="largest error of shape keys in .glb and .fbx (default: the file's)",
    )
    _add_sweep(actions)
    return parser.parse_args(arguments)


def _add_sweep(actions: Any) -> None:
    """The actions of a sweep: it runs all; other programs hand out its cases and collect them."""
    sweep = actions.add_parser("sweep", help="simulate a file with each combination of values of settings")
    sweep.add_argument("file", type=Path, help="the .blend file")
    sweep.add_argument(
        "--set",
        action="extend",
        nargs="+",
        required=True,
        metavar="NAME.SETTING=VALUES",
        help="of an object, or of the scene as Scene.SETTING, by their names for scripts; values as 1,2,5 or 1..10:5, "
        "which is five from 1 to 10; a component of a vector as Ball.velocity[2]",
    )
    sweep.add_argument("--zip", action="store_true", help="take the first values of all lists, then the second")
    sweep.add_argument("--frames", type=frame_range, metavar="A:B", help="first and last frame (default: the file's)")
    sweep.add_argument("--output", type=Path, metavar="FOLDER", help="default: FILE_sweep beside the file")
    sweep.add_argument("--workers", type=count, default=1, metavar="N", help="processes at the same time (default: 1)")
    sweep.add_argument("--plan", action="store_true", help="only write the plan, for other programs to run its cases")
    case = actions.add_parser("sweep-case", help="simulate one case of a sweep")
    case.add_argument("folder", type=Path, help="the folder of the sweep")
    case.add_argument("name", help="the name of the case, or its number in the plan, from 1")
    collect = actions.add_parser("sweep-collect", help="write the table and contact sheet of a sweep")
    collect.add_argument("folder", type=Path, help="the folder of the sweep")


def run(arguments: list[str]) -> int:
    """The command itself: 0 done, 1 could not be done, 2 not understood; an error is one line on stderr."""
    try:
        options = parse(arguments)
        if options.action.startswith("sweep"):
            return _sweep(options)
        if options.action == "export":
            print(export(options.file, options.output, options.frames, options.error))
        else:
            print(bake(options.file, options.frames, options.output, options.trace))
    except _UsageError as error:
        return _fail(error, 2)
    except SystemExit as after_help:
        return int(after_help.code or 0)
    except Exception as error:  # whatever goes wrong, a script that calls Blender gets one line and an exit code
        return _fail(error, 1)
    return 0


def _sweep(options: argparse.Namespace) -> int:
    """The actions of a sweep: 1 if a case has failed."""
    from . import sweep, sweep_case

    if options.action == "sweep-case":
        print(sweep_case.run(options.folder, options.name))
        return 0
    if options.action == "sweep-collect":
        said, failed = sweep.collect(options.folder)
    else:
        folder = sweep.prepare(options.file, options.set, options.zip, options.frames, options.output)
        if options.plan:
            print(f"softpressure: wrote {folder / 'plan.json'}")
            return 0
        for _, _, line in jobs.whole(sweep.run(folder, options.workers)):
            print(f"softpressure: {line}", flush=True)
        said, failed = sweep.collect(folder)
    print(said)
    return 1 if failed else 0


def bake(
    file: Path, frames: tuple[int, int] | None = None, output: Path | None = None, trace: Path | None = None
) -> str:
    """Open `file`, simulate and bake its scenes with bodies, save to `output`; returns a line for the console.

    The given file is left as it is unless it is the output, too. Bakes it already holds are made anew. `trace`: a CSV
    file of each step (`trace.py`); then cached frames are simulated anew, too.
    """
    target = (output or file.with_name(f"{file.stem}_baked.blend")).resolve()
    headless.check_file(file)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent}: no such folder. Create it first.")
    if trace is not None and trace.resolve() in (file.resolve(), target):
        raise ValueError(f"{trace}: the trace would replace the .blend file. Give another path.")
    with headless.traced(trace) as table:
        _bake(file, frames, target, table)
    return f"softpressure: saved {target}"


def _bake(file: Path, frames: tuple[int, int] | None, target: Path, table: Trace | None) -> None:
    """The same with a table that is open."""
    from ..baking.bake import bake as bake_scene
    from ..baking.bake import free

    for scene in headless.open_file(file, frames):
        free(scene)
        headless.show_progress(scene, headless.simulate(scene, table))
        headless.show_progress(scene, bake_scene(scene))
    bpy.ops.wm.save_as_mainfile(filepath=str(target), copy=True)


def export(file: Path, output: Path, frames: tuple[int, int] | None = None, error: float | None = None) -> str:
    """Open `file`, simulate what is not cached or baked, and write the motion of its scene with bodies to `output`.

    `error`: largest error of relative shape keys [m], for formats that have them. Returns a line for the console. The
    given file is left as it is.
    """
    from ..exporting.export import export as export_scene

    headless.check_file(file)
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
        if not any(obj.softpressure.is_baked for obj in sessions.objects(scene, "SOFT", "RIGID")):
            headless.show_progress(scene, headless.simulate(scene, None))
        headless.show_progress(scene, export_scene(scene, target))
    return f"softpressure: wrote {target}"


def _fail(error: Exception, code: int) -> int:
    """Print an error as one line."""
    print(f"softpressure: {headless.sentence_of(error)}", file=sys.stderr)
    return code


def register() -> None:
    """Make the command known to Blender."""
    _handles.append(bpy.utils.register_cli_command("softpressure", run))


def unregister() -> None:
    """Take it back."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
