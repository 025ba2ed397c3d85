"""`blender --command softpressure bake FILE.blend`, or `export`: simulate, and bake or export, without a window."""

import argparse
import contextlib
import math
import sys
from pathlib import Path
from typing import Any, NoReturn

import bpy

from . import formats, jobs, session, status, units
from .trace import Trace

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
        raise argparse.ArgumentTypeError(f"{text!r} is no frame range; write first and last frame as --frames=1:250")
    return frames


def length(text: str) -> float:
    """Read a length, which must not be negative."""
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not 0.0 <= value < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is no length; write a number of metres as --error=0.001")
    return value


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
    return parser.parse_args(arguments)


def run(arguments: list[str]) -> int:
    """The command itself: 0 done, 1 could not be done, 2 not understood; an error is one line on stderr."""
    try:
        options = parse(arguments)
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


def bake(
    file: Path, frames: tuple[int, int] | None = None, output: Path | None = None, trace: Path | None = None
) -> str:
    """Open `file`, simulate and bake its scenes with bodies, save to `output`; returns a line for the console.

    The given file is left as it is unless it is the output, too. Bakes it already holds are made anew. `trace`: a CSV
    file that is told of each step (`trace.py`); then cached frames are simulated anew, too.
    """
    target = (output or file.with_name(f"{file.stem}_baked.blend")).resolve()
    _check_file(file)
    if not target.parent.is_dir():
        raise FileNotFoundError(f"{target.parent}: no such folder. Create it first.")
    if trace is not None and trace.resolve() in (file.resolve(), target):
        raise ValueError(f"{trace}: the trace would replace the .blend file. Give another path.")
    with contextlib.nullcontext() if trace is None else Trace(trace) as table:
        _bake(file, frames, target, table)
    return f"softpressure: saved {target}"


def _bake(file: Path, frames: tuple[int, int] | None, target: Path, table: Trace | None) -> None:
    """The same with a table that is open."""
    from .bake import bake as bake_scene
    from .bake import free

    for scene in _open(file, frames):
        free(scene)
        _tell(scene, _simulate(scene, table))
        _tell(scene, bake_scene(scene))
    bpy.ops.wm.save_as_mainfile(filepath=str(target), copy=True)


def export(file: Path, output: Path, frames: tuple[int, int] | None = None, error: float | None = None) -> str:
    """Open `file`, simulate what is not cached or baked, and write the motion of its scene with bodies to `output`.

    `error`: largest error of relative shape keys [m], for formats that have them. Returns a line for the console. The
    given file is left as it is.
    """
    from .export import export as export_scene

    _check_file(file)
    formats.of(output)
    target = output.resolve()
    scenes = _open(file, frames)
    if len(scenes) > 1:
        names = ", ".join(scene.name for scene in scenes)
        raise ValueError(f"{file}: its scenes {names} all hold bodies; a file holds one. Keep one of them in the file.")
    (scene,) = scenes
    if error is not None:
        scene.softpressure.key_error = error / units.metres_per_unit(scene)
    with bpy.context.temp_override(scene=scene, view_layer=scene.view_layers[0]):
        if not any(obj.softpressure.is_baked for obj in session.objects(scene, "SOFT", "RIGID")):
            _tell(scene, _simulate(scene, None))
        _tell(scene, export_scene(scene, target))
    return f"softpressure: wrote {target}"


def _check_file(file: Path) -> None:
    if not file.is_file():
        raise FileNotFoundError(f"{file}: no such file. Give the path of a .blend file.")


def _open(file: Path, frames: tuple[int, int] | None) -> list[bpy.types.Scene]:
    """Open a file and set the frame range, if one is given, of its scenes with bodies; returns these scenes."""
    bpy.ops.wm.open_mainfile(filepath=str(file.resolve()), load_ui=False)
    scenes = [scene for scene in bpy.data.scenes if session.has_bodies(scene)]
    if not scenes:
        raise ValueError(f"{file}: holds no soft or rigid body. Open it in Blender and add one first.")
    for scene in scenes:
        if frames is not None:
            scene.softpressure.frame_start, scene.softpressure.frame_end = frames
    return scenes


def _tell(scene: bpy.types.Scene, job: jobs.Work) -> None:
    """Run all of a job and print how it goes."""
    said = -1.0
    for done, total, label in jobs.whole(job):
        if done != said and (done % 25 == 0 or done == total):
            print(f"softpressure: {scene.name}: {label} ({done / total:.0%})", flush=True)
            said = done


def _simulate(scene: bpy.types.Scene, table: Trace | None) -> jobs.Work:
    """Simulate a scene, then say what it was made with; the table is told of all frames that were reached."""
    from . import simulate_job

    if table is not None:
        session.of(scene).clear()
    try:
        yield from simulate_job.simulate(scene)
    finally:
        if table is not None:
            table.add(scene)
    for sentence in status.choice_texts(scene):
        print(f"softpressure: {scene.name}: {sentence}", flush=True)


def _fail(error: Exception, code: int) -> int:
    """Print an error as one line."""
    message = " ".join(str(error).removeprefix("Error: ").split()) or repr(error)
    print(f"softpressure: {message}", file=sys.stderr)
    return code


def register() -> None:
    """Make the command known to Blender."""
    _handles.append(bpy.utils.register_cli_command("softpressure", run))


def unregister() -> None:
    """Take it back."""
    while _handles:
        bpy.utils.unregister_cli_command(_handles.pop())
