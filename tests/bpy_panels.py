"""Records what a panel draws, without a window."""

from types import MethodType, SimpleNamespace
from typing import Any

import bpy


class Layout:
    """Collects what a panel draws, and which properties it locks."""

    def __init__(self, drawn: list[str], locked: list[str], enabled: bool = True) -> None:
        self.drawn, self.locked, self.enabled = drawn, locked, enabled

    def column(self, **_: Any) -> "Layout":
        return Layout(self.drawn, self.locked, self.enabled)

    row = box = column

    def label(self, *, text: str, icon: str = "NONE") -> None:
        self.drawn.append(text)

    def prop(self, data: Any, name: str, **_: Any) -> None:
        assert name in data.bl_rna.properties, name
        self.drawn.append(name)
        if not self.enabled:
            self.locked.append(name)

    def prop_search(self, data: Any, name: str, _source: Any, _collection: str, **_: Any) -> None:
        self.prop(data, name)

    def progress(self, *, factor: float, text: str) -> None:
        assert 0.0 <= factor <= 1.0
        self.drawn.append(text)

    def operator(self, name: str, **_: Any) -> Any:
        module, operator = name.split(".")
        assert operator in dir(getattr(bpy.ops, module))
        self.drawn.append(name)
        return SimpleNamespace()

    def operator_menu_enum(self, name: str, _property: str, **_: Any) -> Any:
        if not self.enabled:
            self.locked.append(name)
        return self.operator(name)


def drawn(panel: Any, width: int = 300) -> list[str]:
    """Sentences, properties and operators that a panel draws in a sidebar of this width [pixels]."""
    return _drawn(panel, width)[0]


def locked(panel: Any) -> list[str]:
    """Properties that a panel shows and does not let a person change."""
    return _drawn(panel, 300)[1]


def _drawn(panel: Any, width: int) -> tuple[list[str], list[str]]:
    found: tuple[list[str], list[str]] = ([], [])
    context = SimpleNamespace(
        object=bpy.context.object,
        scene=bpy.context.scene,
        region=SimpleNamespace(width=width),
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)),  # 0 without a window
    )
    drawing = SimpleNamespace(layout=Layout(*found))
    if hasattr(panel, "draw_settings"):
        drawing.draw_settings = MethodType(panel.draw_settings, drawing)
    panel.draw(drawing, context)
    return found
