"""Names of data-blocks in those of files, where many signs are not allowed."""

from collections.abc import Iterable

import bpy

from . import digests


def of(block: bpy.types.ID, among: Iterable[bpy.types.ID]) -> str:
    """The name of a data-block in that of a file, another one for each of those that it is among.

    Of those that differ in case, or in signs and scripts that become underscores, all but the first get a digest, too.
    """
    name = bpy.path.clean_name(block.name)
    first = next(each for each in among if bpy.path.clean_name(each.name).lower() == name.lower())
    return name if block == first else f"{name}_{digests.of_arrays([block.name_full])[:8]}"
