"""Records what a panel draws, without a window."""

from collections.abc import Iterable
from types import MethodType, SimpleNamespace
from typing import Any

import bpy


class Layout:
    """Collects what a panel draws, which properties it locks, and the names a person reads of those it does not."""

    def __init__(
        self,
        drawn: list[str],
        locked: list[str],
        enabled: bool = True,
        labels: set[str] | None = None,
        buttons: "list[tuple[str, SimpleNamespace, Layout]] | None" = None,
    ) -> None:
        self.inherited = enabled  # what stands in a locked layout is locked, whatever it says of itself
        self.drawn, self.locked, self.enabled = drawn, locked, enabled
        self.labels = set[str]() if labels is None else labels
        #: Each operator, its properties and where it stands.
        self.buttons: list[tuple[str, SimpleNamespace, Layout]] = [] if buttons is None else buttons

    def __setattr__(self, name: str, value: Any) -> None:
        assert name != "active", "what is dim but accepts input puzzles people: use `enabled`"
        super().__setattr__(name, value and self.inherited if name == "enabled" else value)

    def column(self, heading: str = "", **_: Any) -> "Layout":
        if heading and self.enabled:
            self.labels.add(heading)
        return Layout(self.drawn, self.locked, self.enabled, self.labels, self.buttons)

    row = box = split = column

    def label(self, *, text: str, icon: str = "NONE") -> None:
        self.drawn.append(text)
        if self.enabled:
            self.labels.add(text)

    def prop(self, data: Any, name: str, text: str | None = None, **_: Any) -> None:
        assert name in data.bl_rna.properties, name
        self.drawn.append(name)
        self._tell(data.bl_rna.properties[name], text)
        if not self.enabled:
            self.locked.append(name)

    def prop_search(self, data: Any, name: str, _source: Any, _collection: str, text: str | None = None) -> None:
        self.prop(data, name, text)

    def popover(self, *, panel: str, text: str, icon: str = "NONE") -> None:
        assert hasattr(bpy.types, panel)
        self.drawn.append(text)

    def menu(self, name: str, icon: str = "NONE") -> None:
        self.drawn.append(getattr(bpy.types, name).bl_label)

    def separator(self) -> None:
        pass

    def prop_decorator(self, data: Any, name: str) -> None:
        assert name in data.bl_rna.properties

    def template_list(self, *_: Any, **__: Any) -> None:
        pass

    def _tell(self, what: Any, text: str | None) -> None:
        """Note the label of a property or operator, and the choices it has."""
        if self.enabled:
            self.labels |= {what.name if text is None else text} | {item.name for item in _choices(what)}

    def progress(self, *, factor: float, text: str) -> None:
        assert 0.0 <= factor <= 1.0
        self.drawn.append(text)

    def operator(self, name: str, text: str | None = None, **_: Any) -> Any:
        module, operator = name.split(".")
        self.drawn.append(name)
        self._tell(getattr(getattr(bpy.ops, module), operator).get_rna_type(), text)
        properties = SimpleNamespace()
        self.buttons.append((name, properties, self))
        return properties

    def operator_menu_enum(self, name: str, choice: str, text: str | None = None, **_: Any) -> Any:
        kind = getattr(bpy.ops.softpressure, name.partition(".")[2]).get_rna_type()
        if self.enabled:
            self.labels |= {item.name for item in kind.properties[choice].enum_items}
        if not self.enabled:
            self.locked.append(name)
        return self.operator(name, text)


def _choices(what: Any) -> Any:
    return what.enum_items if getattr(what, "type", "") == "ENUM" else ()


def shown_panels() -> list[Any]:
    """The panels of the sidebar that are shown now."""
    from softpressure_ext.panels import CLASSES

    return _shown(cls for cls in CLASSES if issubclass(cls, bpy.types.Panel) and cls.bl_space_type == "VIEW_3D")


def _shown(panels: Iterable[Any]) -> list[Any]:
    return [panel for panel in panels if not hasattr(panel, "poll") or panel.poll(bpy.context)]


def show(advanced: bool = True, research: bool = True, analysis: bool = True) -> None:
    """Set the switches of the preferences, which stay until Blender's preferences are read again."""
    from softpressure_ext.panels import preferences

    addons = bpy.context.preferences.addons
    if "softpressure_ext" not in addons:
        addons.new().module = "softpressure_ext"
    found = preferences.preferences()
    found.advanced, found.research, found.analysis = advanced, research, analysis


def _body_panels() -> list[Any]:
    return [
        panel for panel in shown_panels() if "body" in (getattr(panel, "section", ""), getattr(panel, "parent", ""))
    ]


def body_rows(width: int = 300) -> list[str]:
    """What all panels of the active body draw, whatever the preferences hide."""
    show()
    return [each for panel in _body_panels() for each in drawn(panel, width)]


def body_locked() -> list[str]:
    """Properties that these panels show and do not let a person change."""
    show()
    return [each for panel in _body_panels() for each in locked(panel)]


def drawn(panel: Any, width: int = 300) -> list[str]:
    """Sentences, properties and operators that a panel draws in a sidebar of this width [pixels]."""
    return _drawn(panel, width).drawn


def locked(panel: Any) -> list[str]:
    """Properties that a panel shows and does not let a person change."""
    return _drawn(panel, 300).locked


def labels(panels: Iterable[Any]) -> set[str]:
    """Titles of those panels that are shown now, and names of what a person can use in them."""
    return set[str]().union(*({panel.bl_label} | _drawn(panel, 300).labels for panel in _shown(panels)))


def buttons(panels: Iterable[Any]) -> list[tuple[str, dict[str, Any], bool]]:
    """Buttons of those panels that are shown now: operator, properties, and whether the panel lets them be pressed."""
    found = [button for panel in _shown(panels) for button in _drawn(panel, 300).buttons]
    return [(name, vars(properties), place.enabled) for name, properties, place in found]


def _drawn(panel: Any, width: int) -> Layout:
    layout = Layout([], [])
    context = SimpleNamespace(
        object=bpy.context.object,
        scene=bpy.context.scene,
        region=SimpleNamespace(width=width),
        preferences=SimpleNamespace(system=SimpleNamespace(ui_scale=1.0)),  # 0 without a window
    )
    drawing = SimpleNamespace(layout=layout, bl_space_type=getattr(panel, "bl_space_type", ""))
    if hasattr(panel, "draw_settings"):
        drawing.draw_settings = MethodType(panel.draw_settings, drawing)
    panel.draw(drawing, context)
    return layout
