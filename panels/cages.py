"""Panel of the cage of the active object."""

from ..softpressure.blender_types import Context
from .layout import PartOfBody, draw_text, in_both_places


class Cage(PartOfBody):
    """The cage that moves the active mesh, or the meshes that the active cage moves."""

    bl_label = "Cage"
    kinds = ("NONE", "SOFT", "RIGID", "COLLIDER")

    def draw(self, context: Context) -> None:
        """What is bound to what; buttons that add or remove it. A bake locks nothing here."""
        from ..softpressure import cages

        layout, obj = self.layout, context.object
        binding = cages.binding(obj)
        moved = cages.bound_to(obj)
        if binding is not None and binding.target is None:
            draw_text(layout, context, f"{obj.name}: has lost its cage. Press Remove Cage.")
        elif binding is not None:
            layout.label(text=f"Follows {binding.target.name}", icon="MOD_MESHDEFORM")
        elif moved:
            for mesh in moved:
                layout.label(text=f"Moves {mesh.name}", icon="MOD_MESHDEFORM")
        column = layout.column(align=True)
        if binding is None and not moved:
            column.operator("softpressure.add_cage", icon="MOD_MESHDEFORM")
        column.operator("softpressure.bind_to_cage", icon="LINKED")
        if binding is not None or moved:
            column.operator("softpressure.remove_cage", icon="X")


SIDEBAR, PHYSICS = in_both_places(cage=Cage)
(SOFTPRESSURE_PT_cage,) = SIDEBAR

CLASSES = (*SIDEBAR, *PHYSICS)
