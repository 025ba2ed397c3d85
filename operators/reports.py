"""Reports that fit on the screen."""

import textwrap
from typing import Literal

import bpy

#: Characters in a line of Blender's error popup, which does not wrap.
_WIDTH = 80


def report(operator: bpy.types.Operator, level: Literal["INFO", "WARNING", "ERROR"], sentence: str) -> None:
    """Report a sentence; an error is wrapped for the popup it opens. Scripts, without a window, get it as it is."""
    text = " ".join(sentence.split())
    if level == "ERROR" and not bpy.app.background:
        text = textwrap.fill(text, _WIDTH, break_long_words=False, break_on_hyphens=False)
    operator.report({level}, text)
