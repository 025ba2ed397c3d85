"""What a panel draws, without a window."""

from types import SimpleNamespace
from typing import Any

import bpy


class Layout:
    """Collects what a panel draws."""

    def __init__(self, drawn: list[str]) -> None:
        object.__setattr__(self, "drawn", drawn)

    def __setattr__(self, name: str, value: Any) -> None:
        pass

    def column(self, **_: Any) -> "Layout":
        return self

    row = column

    def label(self, *, text: str, icon: str = "NONE") -> None:
        self.drawn.append(text)

    def prop(self, data: Any, name: str, **_: Any) -> None:
        assert name in data.bl_rna.properties, name
        self.drawn.append(name)

    def prop_search(self, data: Any, name: str, _source: Any, _collection: str, **_: Any) -> None:
        self.prop(data, name)

    def progress(self, *, factor: float, text: str) -> None:
        assert 0.0 <= factor <= 1.0
        self.drawn.append(text)

    def operator(self, name: str, **_: Any) -> Any:
        assert name.split(".")[1] in dir(bpy.ops.softpressure)
        self.drawn.append(name)
        return SimpleNamespace()


def drawn(panel: Any, width: int = 300) -> list[str]:
    """Sentences, properties and operators that a panel draws in a sidebar of this width [pixels]."""
    found: list[str] = []
    context = SimpleNamespace(
        object=bpy.context.object,
        scene=bpy.context.scene,
        region=SimpleNamespace(width=width),
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)),  # 0 without a window
    )
    panel.draw(SimpleNamespace(layout=Layout(found)), context)
    return found
