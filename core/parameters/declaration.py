"""What a setting is declared by."""

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

#: What soft bodies can be made of; a lattice of a flat mesh has other settings than one of a closed mesh.
SOFT = ("MEMBRANE", "LOOP", "TRUSS", "FLAT_TRUSS", "SOLID")
SKINS = ("MEMBRANE", "LOOP")
LATTICES = ("TRUSS", "FLAT_TRUSS", "SOLID")
#: What has a mass.
MOVING = (*SOFT, "RIGID")
BODIES = (*MOVING, "COLLIDER")
#: The settings of a scene are declared as those of a body.
SCENE = "SCENE"

#: Identifier, label and tooltip of a choice, then, where files need them, its icon and the number that they hold.
Choice = tuple[str, str, str] | tuple[str, str, str, int] | tuple[str, str, str, str, int]


@dataclass(frozen=True)
class Parameter:
    """One setting. Its type is that of the default: a number, a whole number, a choice, a truth value or a vector."""

    name: str
    label: str
    tooltip: str
    _: KW_ONLY
    bodies: tuple[str, ...]  # of `BODIES`, or `SCENE`
    default: Any  # of the panel
    plain: Mapping[str, Any] = field(default_factory=dict)  # by body: default of the builder, where it is another one
    unit: str = ""  # SI, as the core takes it; %: the core takes the share
    low: float | None = None
    high: float | None = None
    least: float | None = None  # of the field, where `low` itself is excluded, or depends on other settings
    soft_low: float | None = None  # of a slider
    soft_high: float | None = None
    step: float = 3.0  # of a click, in hundredths
    precision: int = 2  # digits
    choices: tuple[Choice, ...] = ()
    solvers: tuple[str, ...] = ()  # that read it; empty: all
    is_animated: bool = False  # read in each frame
    is_material: bool = False  # what presets hold
    is_captured: bool = True  # given to the builder; others say how a mesh is read
    is_dated: bool = True  # a change makes caches out of date
    taken_by: str = "MODEL"  # of a scene's: MODEL, WORLD, OPTIONS, the CAPTURE or the length of its FRAMES
    option: str = ""  # its name there, where it is another one
    where: tuple[str, Any] = ("", "")  # the choice and its value with which it counts; else it is not read nor shown
    group: str = ""  # rows of the panel that stand together; empty where a panel has a place of its own for it
    short: str = ""  # label in the panel, where the unit has to be named

    @property
    def what(self) -> str:
        """What sentences call it."""
        if "'s " in self.label:  # of a person
            return self.label.capitalize()
        return (self.option or self.name).replace("_", " ")

    def names(self) -> tuple[str, ...]:
        """Its choices."""
        return tuple(choice[0] for choice in self.choices)
