"""`blender --command softpressure bake FILE.blend`, `export` or `sweep`: simulate and keep it, without a window."""

import argparse
import contextlib
import math
import sys
from collections.abc import Callable
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


def _checked(read: Callable[[str], Any], remedy: str) -> Callable[[str], Any]:
    """A reader of an argument that says what is wrong with it."""

    def reader(text: str) -> Any:
        try:
            return read(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"{text!r} is not {remedy}") from None

    return reader


def _frames(text: str) -> tuple[int, int]:
    first, last = map(int, text.split(":"))
    return (first, last) if first <= last else _refused()


def _length(text: str) -> float:
    return float(text) if 0.0 <= float(text) < math.inf else _refused()


def _count(text: str) -> int:
    return int(text) if text.isdecimal() and int(text) else _refused()


def _refused() -> Any:
    raise ValueError


def parse(arguments: list[str]) -> argparse.Namespace:
    """Read the words after `softpressure`; raises `_UsageError`."""
    frame_range = _checked(_frames, "a frame range; write first and last frame as --frames=1:250")
    length = _checked(_length, "a length; write a number of metres as --error=0.001")
    count = _checked(_count, "a count; write a whole number from 1 as --workers=2")
    parser = _Parser(prog="blender --command softpressure", description="Soft Pressure without a window.")
    actions = parser.add_subparsers(dest="action", required=True, parser_class=_Parser)
    bake = actions.add_parser("bake", help="simulate the scene and bake it to shape keys and keyframes")
    bake.add_argument("file", type=Path, help="the .blend file")
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
    export.add_argument(
        "--error",
        type=length,
        metavar="METRES",
        help="largest error of shape keys in .glb and .fbx (default: the file's)",
    )
    # a sweep runs all; other programs hand out its cases and collect them
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
    sweep.add_argument("--output", type=Path, metavar="FOLDER", help="default: FILE_sweep beside the file")
    sweep.add_argument("--workers", type=count, default=1, metavar="N", help="processes at the same time (default: 1)")
    sweep.add_argument("--plan", action="store_true", help="only write the plan, for other programs to run its cases")
    case = actions.add_parser("sweep-case", help="simulate one case of a sweep")
    case.add_argument("folder", type=Path, help="the folder of the sweep")
    case.add_argument("name", help="the name of the case, or its number in the plan, from 1")
    collect = actions.add_parser("sweep-collect", help="write the table and contact sheet of a sweep")
    collect.add_argument("folder", type=Path, help="the folder of the sweep")
    for action in (bake, export, sweep):
        action.add_argument(
            "--frames", type=frame_range, metavar="A:B", help="first and last frame (default: the file's)"
        )
    return parser.parse_args(arguments)


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
    from . import sweep

    if options.action == "sweep-case":
        print(sweep.run_case(options.folder, options.name))
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
    from ..baking.bake import bake as bake_scene
    from ..baking.bake import free

    target = (output or file.with_name(f"{file.stem}_baked.blend")).resolve()
    headless.check_file(file)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent}: no such folder. Create it first.")
    if trace is not None and trace.resolve() in (file.resolve(), target):
        raise ValueError(f"{trace}: the trace would replace the .blend file. Give another path.")
    with Trace(trace) if trace else contextlib.nullcontext() as table:
        for scene in headless.open_file(file, frames):
            free(scene)
            headless.show_progress(scene, headless.simulate(scene, table))
            headless.show_progress(scene, bake_scene(scene))
        bpy.ops.wm.save_as_mainfile(filepath=str(target), copy=True)
    return f"softpressure: saved {target}"


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
