"""File formats that a simulation is exported to. Loads no core: panels and operators read it."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Format:
    """A format, by the suffixes of its files; a path without a suffix gets the first."""

    identifier: str
    name: str
    description: str  # for the button
    suffixes: tuple[str, ...]
    #: Whether it holds shape keys that are blended, and no mesh that differs from frame to frame.
    blends_keys: bool = False
    #: Whether a file holds the vertices of one mesh, and nothing else.
    is_point_cache: bool = False
    #: Whether it holds no shapes, but what each body measures in each frame.
    is_table: bool = False
    #: Whether it holds what turns below a parent that is not scaled by the same in all directions.
    holds_shear: bool = True


FORMATS = (
    Format("ALEMBIC", "Alembic", "All frames of all objects, with their modifiers", (".abc",), holds_shear=False),
    Format("USD", "USD", "All frames of all objects, with their modifiers", (".usdc", ".usda", ".usd")),
    Format("GLTF", "glTF", "All objects, soft bodies with shape keys, without modifiers", (".glb", ".gltf"), True),
    Format("FBX", "FBX", "All objects, soft bodies with shape keys, without modifiers", (".fbx",), True),
    Format("PC2", "PC2", "Vertices of each soft body, in its own space", (".pc2",), is_point_cache=True),
    Format("MDD", "MDD", "Vertices of each soft body, in its own space", (".mdd",), is_point_cache=True),
    Format("CSV", "CSV", "Volume, pressure, forces, energy and steps of each body", (".csv",), is_table=True),
)
BY_IDENTIFIER = {each.identifier: each for each in FORMATS}


def of(path: Path) -> Format:
    """The format of a file by its suffix; raises `ValueError` if there is none."""
    for each in FORMATS:
        if path.suffix.lower() in each.suffixes:
            return each
    known = ", ".join(suffix for each in FORMATS for suffix in each.suffixes)
    raise ValueError(f"{path}: its suffix names no format for export. Give one of {known}.")
