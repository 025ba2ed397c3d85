"""Write the sample files beside this script; `nox -s samples` runs it in the oldest Blender, so all can open them."""

import sys
from pathlib import Path

import bpy

FOLDER = Path(__file__).resolve().parent
sys.path.append(str(FOLDER.parent / "tests" / "support"))

import extension  # noqa: E402

extension.load()

import softpressure_ext  # noqa: E402

bpy.ops.wm.read_factory_settings(use_empty=True)
softpressure_ext.register()

from softpressure_ext.sample_blends import samples  # noqa: E402

for name in samples.SAMPLES:
    samples.build(name)
    path = FOLDER / f"{name}.blend"
    bpy.ops.wm.save_as_mainfile(filepath=str(path), compress=True, copy=True)
    print(f"{path.name}: {path.stat().st_size} bytes")
extension.leave(0)
