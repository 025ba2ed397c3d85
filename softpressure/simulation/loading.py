"""Loading the solver: numba takes most of a second to import, so only files with bodies pay for it.

Modules that need the core are imported inside the functions that need them by the modules that registering loads;
tests/project/test_layers.py sees to that.
"""

import functools
import hashlib
import sys
import threading
from contextlib import suppress
from pathlib import Path

import bpy

from ...core import compiler
from ...core.compiler import CompilerError
from ...core.errors import SoftPressureError as SoftPressureError
from ..bodies import wording


def expect_wheels() -> None:
    """Let Python look where Blender unpacks the wheels of extensions, though there may be nothing yet.

    Blender adds that folder at its start if it exists; another Blender may be installing this extension just then.
    """
    if not __package__.startswith("bl_ext."):
        return
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    folder = Path(bpy.utils.user_resource("EXTENSIONS"), ".local", "lib", version, "site-packages")
    if str(folder) not in sys.path:
        sys.path.append(str(folder))


def missing_compiler() -> str:
    """A sentence if the compiler is missing; empty if it is there."""
    try:
        compiler.require()
    except CompilerError as error:
        return wording.of(error)
    return ""


@functools.cache
def load_early() -> None:
    """Begin to import the core in a thread: a person who opens the panels is going to need it."""

    def load() -> None:
        try:
            from ...core import interface  # noqa: F401
        except CompilerError:
            load_early.cache_clear()  # it may come

    threading.Thread(target=load, name="Soft Pressure import", daemon=True).start()


def compile_early() -> None:
    """Compile the kernels of the engine in a process of low priority, unless they are in files: nobody waits for them.

    Loading the core for that takes place in a thread; an empty file beside the kernels spares it once all are there.
    """
    try:
        folder = Path(
            bpy.utils.extension_path_user(__package__.rpartition(".softpressure.")[0], path="kernels", create=True)
        )
    except ValueError:  # loaded from a checkout
        return
    manifest = Path(__file__).resolve().parents[2] / "blender_manifest.toml"
    build = hashlib.blake2b(manifest.read_bytes() + sys.version.encode(), digest_size=8).hexdigest()
    whole = folder / f"whole-{build}"
    if whole.exists():
        return

    def begin() -> None:
        try:
            from ...core import prepare
        except CompilerError:
            return  # it may come; then who simulates waits
        use_own_folder()
        jobs = [job for job in prepare.all_jobs() if job.solver == prepare.ENGINE and not job.choice]
        if prepare.is_compiled(jobs):
            whole.touch()
        else:
            prepare.start_early(jobs)

    threading.Thread(target=begin, name="Soft Pressure early", daemon=True).start()


def use_own_folder() -> None:
    """Keep compiled kernels in the user's extension folder; beside the code they would be lost with every update.

    To be called before the first kernel is.
    """
    from ...core import kernel_store

    package = __package__.rpartition(".softpressure.")[0]
    with suppress(ValueError):  # loaded from a checkout, not installed as an extension: beside the code
        kernel_store.use_folder(Path(bpy.utils.extension_path_user(package, path="kernels")))
