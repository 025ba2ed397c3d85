"""Draws editors again."""

from typing import Any

import bpy


def redraw(_settings: Any = None, _context: bpy.types.Context | None = None) -> None:
    """Draw the editors with curves or overlay again, in every window."""
    for window in bpy.context.window_manager.windows:
        for area in window.screen.areas:
            if area.type in {"VIEW_3D", "GRAPH_EDITOR"}:
                area.tag_redraw()
