"""Errors of the core in the words of the interface: it says what is wrong, and this where in Blender it is repaired."""

from ...core.compiler import CompilerError
from ...core.errors import MeshError

#: By the flaw of a mesh: menus, and other ways out.
_WAYS = {
    "OPEN": "Select > Select All by Trait > Non Manifold, then Face > Fill; Mesh > Merge > By Distance",
    "CROWDED": "Select > Select All by Trait > Non Manifold",
    "TWISTED": "Mesh > Normals > Recalculate Outside",
    "INSIDE_OUT": "Mesh > Normals > Recalculate Outside",
    "LOOSE": "Mesh > Clean Up > Delete Loose",
    "DEGENERATE": "Mesh > Clean Up > Degenerate Dissolve",
    "DOUBLED": "Mesh > Merge > By Distance",
    "LOOSE_ENDS": "Vertex > New Edge/Face from Vertices",
    "SEVERAL": "Mesh > Separate > By Loose Parts",
    "INNER": "Mesh > Delete, Mesh > Clean Up > Delete Loose; or choose the type Lattice",
}


def of(error: BaseException) -> str:
    """The sentence of an error, with the way in Blender's menus, in Edit Mode."""
    if isinstance(error, CompilerError):
        return (
            f"Soft Pressure: its compiler ({error.module}) is not there yet. If another Blender is installing the "
            "extension, wait until it is done and try again; else install the extension again."
        )
    way = _WAYS.get(error.flaw) if isinstance(error, MeshError) else None
    return str(error) if way is None else f"{str(error).removesuffix('.')} ({way})."
