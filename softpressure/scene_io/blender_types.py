"""Names for Blender's types where the stubs are stricter than Blender: members they call optional are there for us."""

from typing import Any

#: `bpy.types.Context` of operators and panels, which always has a scene.
Context = Any
#: `bpy.types.UILayout`
Layout = Any
#: `bpy.types.Mesh`, the data of an object of type MESH
Mesh = Any
#: `bpy.types.ID`
DataBlock = Any
