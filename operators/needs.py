"""What operators need before they can run, and the base of those that need something."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import bpy

from ..softpressure.scene_io.blender_types import Context
from ..softpressure.state import sessions

if TYPE_CHECKING:
    _Base = bpy.types.Operator
else:
    _Base = object

#: Gives a sentence of what is to be done before, or an empty one.
Need = Callable[[Context], str]


class NeedingOperator(_Base):
    """An operator whose button is grey while something is missing, and says what.

    Its identifier is that of its class, `SOFTPRESSURE_OT_bake`, and its tooltip the text below that.
    """

    bl_options = {"REGISTER", "UNDO"}
    #: Of those that are missing, the first is told.
    needs: tuple[Need, ...] = ()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "_OT_" in cls.__name__:
            cls.bl_idname = cls.__name__.lower().replace("_ot_", ".")
            cls.bl_description = " ".join((cls.__doc__ or "").split()).removesuffix(".")

    @classmethod
    def poll(cls, context: Context) -> bool:
        """Whether nothing is missing."""
        sentence = next(filter(None, (need(context) for need in cls.needs)), "")
        if sentence:
            cls.poll_message_set(sentence)
        return not sentence


def unless(is_there: Callable[[Context], Any], sentence: str) -> Need:
    """The need of something, with the sentence that is told unless it is there."""
    return lambda context: "" if is_there(context) else sentence


def settled_bodies(context: Context) -> str:
    """The need of bodies none of which is baked or being edited."""
    return sessions.waits_for(context.scene)


A_BODY = unless(lambda context: sessions.has_bodies(context.scene), "Add a soft or rigid body first")
#: Of frames that are used, so that none may be added meanwhile.
ALL_FRAMES = unless(
    lambda context: sessions.of(context.scene).activity is sessions.Activity.IDLE,
    "Frames are being simulated: wait for the last one, or press Esc",
)
