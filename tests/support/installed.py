"""Run by test_install.py, each step in a Blender of its own: `install ZIP RELEASE`, then `remove ZIP RELEASE`.

`RELEASE`: the zip with kernels, which may be the same. The other one gets all of them but the least, as a first use has
compiled them, so that it is seen to compile without taking minutes.

BLENDER_USER_RESOURCES is set before the process starts: an empty folder at first, the same one for both.
"""

import os
import sys
import zipfile
from pathlib import Path

import bpy

# isort: split
import addon_utils  # found only after bpy
import extension

MODULE = "bl_ext.user_default.softpressure"
RESOURCES = Path(os.environ["BLENDER_USER_RESOURCES"])
EXTENSION = RESOURCES / "extensions" / "user_default" / "softpressure"
WHEELS = RESOURCES / "extensions" / ".local" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
KERNELS = RESOURCES / "extensions" / ".user" / "user_default" / "softpressure" / "kernels"
#: The kernel that is compiled on first use; every soft body takes it.
COMPILED = "volume.enclosed_volume-"
IS_RELEASE = sys.argv[2] == sys.argv[3]


def handlers() -> list[str]:
    """The modules of all application handlers."""
    lists = [getattr(bpy.app.handlers, name) for name in dir(bpy.app.handlers)]
    return [getattr(function, "__module__", "") for group in lists if isinstance(group, list) for function in group]


def traces() -> dict[str, list[str]]:
    """What of the extension is visible in Blender now, by kind."""
    return {
        "properties": [kind.__name__ for kind in (bpy.types.Object, bpy.types.Scene) if hasattr(kind, "softpressure")],
        "classes": [name for name in dir(bpy.types) if name.startswith("SOFTPRESSURE_")],
        "operators": dir(bpy.ops.softpressure),
        "presets": [name for name in bpy.utils.preset_paths("softpressure") if name.startswith(str(EXTENSION))],
        "handlers": [module for module in handlers() if module.startswith(MODULE)],
    }


def check_nothing_leaked() -> None:
    """No module of ours under a foreign name, no folder of ours on the path, no policy warning."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        assert name.startswith(MODULE) or not file.startswith(str(EXTENSION)), f"{name} leaked: {file}"
    assert not {"core", "operators", "panels", "softpressure", "softpressure_ext"} & set(sys.modules)
    assert not [folder for folder in sys.path if folder.startswith(str(EXTENSION))]
    addon_utils._extensions_warnings_get._is_first = True  # compute them anew
    assert not addon_utils._extensions_warnings_get(), addon_utils._extensions_warnings_get()


def give_kernels() -> None:
    """Put the kernels of a release into the user's folder, but one."""
    with zipfile.ZipFile(sys.argv[3]) as package:
        names = [name for name in package.namelist() if name.endswith(".kernel")]
        assert any(Path(name).name.startswith(COMPILED) for name in names)
        for name in names:
            if not Path(name).name.startswith(COMPILED):
                target = KERNELS / Path(name).parent.name / Path(name).name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(package.read(name))


def check_kernels() -> None:
    """All came with the zip, or with the user's folder; numba's settings are what they are without this extension."""
    prepare = sys.modules[f"{MODULE}.core.prepare"]
    assert not prepare.compiled_names(), prepare.compiled_names()  # another process does that
    assert bool(list(KERNELS.rglob(f"{COMPILED}*.kernel"))) != IS_RELEASE, user_files()
    assert user_files() == [] or not IS_RELEASE, user_files()
    config = sys.modules["numba"].config
    assert (config.CACHE_DIR, config.CPU_NAME) == ("", None)


def bounce_once() -> None:
    """A ball of the extension falls for three frames."""
    bpy.ops.mesh.primitive_uv_sphere_add(location=(0, 0, 3))
    ball = bpy.context.object
    assert bpy.ops.softpressure.add_body(kind="SOFT") == {"FINISHED"}
    preset = bpy.utils.preset_find("Beach_Ball", "softpressure")
    assert bpy.ops.softpressure.apply_preset(filepath=preset) == {"FINISHED"}
    bpy.context.scene.frame_start, bpy.context.scene.frame_end = 1, 3
    assert bpy.ops.softpressure.simulate() == {"FINISHED"}
    assert bpy.ops.softpressure.bake(target="SHAPE_KEYS") == {"FINISHED"}
    bpy.context.scene.frame_set(3)
    evaluated = ball.evaluated_get(bpy.context.evaluated_depsgraph_get()).data
    lowest = min(vertex.co.z for vertex in evaluated.vertices)
    assert lowest < -1.01, f"the ball did not fall: {lowest}"


def user_files() -> list[str]:
    """What the extension keeps for its user."""
    folder = RESOURCES / "extensions" / ".user" / "user_default" / "softpressure"
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def extension_files() -> set[Path]:
    """What lies in the extension's own folder, besides what Python keeps of its sources."""
    return {path for path in EXTENSION.rglob("*") if "__pycache__" not in path.parts}


def install(zip_path: str) -> None:
    """Install and enable the zip, use it, switch it off and on."""
    clean = traces()
    installed = bpy.ops.extensions.package_install_files(
        filepath=zip_path, repo="user_default", enable_on_install=True, overwrite=True
    )
    assert installed == {"FINISHED"}
    assert addon_utils.check(MODULE) == (True, True), addon_utils.check(MODULE)
    assert (WHEELS / "numba" / "__init__.py").exists() and (WHEELS / "llvmlite" / "__init__.py").exists()
    enabled = traces()
    assert enabled["properties"] == ["Object", "Scene"]
    assert [len(list(Path(folder).glob("*.py"))) for folder in enabled["presets"]] == [9]
    check_nothing_leaked()
    shipped = extension_files()
    assert any(path.suffix == ".kernel" for path in shipped) == IS_RELEASE, "the zip has not the kernels of its edition"
    if not IS_RELEASE:
        give_kernels()
    bounce_once()
    check_nothing_leaked()
    check_kernels()
    assert extension_files() == shipped, "written beside the code"

    addon_utils.disable(MODULE)
    assert traces() == clean, traces()
    addon_utils.enable(MODULE)
    assert traces() == enabled, traces()


def remove() -> None:
    """Use it once more, as another session does, and remove it with all that it kept."""
    clean = traces()
    addon_utils.enable(MODULE)
    bounce_once()
    check_kernels()
    kept = Path(bpy.utils.extension_path_user(MODULE, path="kernels", create=True))
    (kept / "something").touch()
    repositories = bpy.context.preferences.extensions.repos
    number = next(i for i, repository in enumerate(repositories) if repository.module == "user_default")
    assert bpy.ops.extensions.package_uninstall(repo_index=number, pkg_id="softpressure") == {"FINISHED"}
    assert traces() == clean, traces()
    assert not EXTENSION.exists() and not kept.exists()


if sys.argv[1] == "install":
    install(sys.argv[2])
else:
    remove()
print("done", flush=True)
extension.leave(0)
