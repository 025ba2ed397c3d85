"""Handlers of Blender's events. They never raise: an error stops the simulation of its scene and is shown in the
panel.
"""

import functools
import logging
import traceback
from collections.abc import Callable
from typing import Any

import bpy
from bpy.app.handlers import persistent

from ..core.compiler import CompilerError
from .bodies import wording
from .reports import missing_frames
from .scene_io import own_mesh
from .simulation import loading
from .state import jobs, sessions, versions

_log = logging.getLogger("softpressure")
#: Data whose updates name the objects that they are of, too, as far as these are concerned.
_TOLD_WITH_OBJECTS = (bpy.types.Object, bpy.types.Mesh, bpy.types.Key, bpy.types.Material, bpy.types.ShaderNodeTree)


def _guarded(function: Callable[..., None]) -> Callable[..., None]:
    """A handler that reports an exception, once, instead of raising it."""

    @functools.wraps(function)
    def handler(*arguments: Any) -> None:
        try:
            function(*arguments)
        except Exception as error:
            sentence = f"Internal error in {function.__name__}: {error!r}. Press Reset; if it comes back, report it."
            if isinstance(error, CompilerError):
                sentence = wording.of(error)
            for scene in [item for item in arguments if isinstance(item, bpy.types.Scene)] or bpy.data.scenes:
                sessions.of(scene).fail(sentence)
            _log.debug(traceback.format_exc())

    return persistent(handler)


@_guarded
def on_frame_change_pre(scene: bpy.types.Scene, *_: Any) -> None:
    """Show a cached frame, or prepare the next one."""
    if sessions.has_bodies(scene):
        from .simulation import timeline

        timeline.before_frame(scene)


@_guarded
def on_frame_change_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Simulate the next frame; correct what is shown by the current matrices."""
    sessions.forget_objects()  # what was edited just before is evaluated with the frame, and not told again
    if sessions.has_bodies(scene):
        from .simulation import timeline

        timeline.after_frame(scene, depsgraph)


@_guarded
def on_depsgraph_update_post(scene: bpy.types.Scene, depsgraph: bpy.types.Depsgraph) -> None:
    """Objects may have been edited, or anything that is not told of; sessions compare on their next use."""
    updated: list[Any] = [update.id.original for update in depsgraph.updates]
    if updated and (updated == [scene] or all(isinstance(each, _TOLD_WITH_OBJECTS) for each in updated)):
        sessions.mark({each.session_uid for each in updated}, scene)
    else:
        sessions.mark_all()
    session = sessions.of(scene)
    if session.run.cache is not None:
        from .cache import playback

        playback.let_go_new(session, updated)
    if session.display.late:
        from .cache import playback

        playback.catch_up(scene)
    if session.display.lost and bpy.context.scene == scene:
        from .cache import playback

        session.display.lost.clear()
        playback.show_again(scene)


@_guarded
def on_import_post(context: Any = None, *_: Any) -> None:
    """Objects came from another file, perhaps with scenes of theirs."""
    sessions.mark_all()
    for item in getattr(context, "import_items", ()):
        if isinstance(item.id, bpy.types.Scene):
            versions.update(item.id)


@_guarded
def on_data_replaced(*_: Any) -> None:
    """Data-blocks are about to be replaced: end running jobs, and keep none of them."""
    jobs.end()
    sessions.mark_all()


@_guarded
def on_undo_post(scene: bpy.types.Scene, *_: Any) -> None:
    """Data-blocks were replaced: compare again, and show the present frame of the take that is chosen now."""
    sessions.mark_all()
    sessions.forget_shown()
    for other in bpy.data.scenes:
        if sessions.has_bodies(other):
            from .cache import playback, takes

            takes.follow(other)
            playback.show_again(other)


@_guarded
def on_load_post(*_: Any) -> None:
    """Another file: read its caches."""
    sessions.forget_all()
    sessions.is_rendering = False
    for scene in bpy.data.scenes:
        versions.update(scene)
        if sessions.has_bodies(scene):
            from .cache import caches, playback

            caches.load(scene)
            playback.show_again(scene)


@_guarded
def on_save_pre(*_: Any) -> None:
    """Stamp the version of the defaults, and pack the caches that the file is to hold; overrides keep settings."""
    own_mesh.note_overrides()
    for scene in bpy.data.scenes:
        versions.stamp(scene)
        if sessions.has_bodies(scene):
            from .cache import packing

            packing.pack(scene)


@_guarded
def on_save_post(path: str, *_: Any) -> None:
    """Write the caches beside the file, those of baked bodies too: a bake may be freed."""
    on_save_end()
    for scene in bpy.data.scenes:
        if sessions.has_bodies(scene):
            from .cache import disk

            disk.save(scene, path)


@_guarded
def on_save_end(*_: Any) -> None:
    """The file is written, or could not be: remove packed caches from memory."""
    for scene in bpy.data.scenes:
        if sessions.has_bodies(scene):
            from .cache import packing

            packing.unload(scene)


@_guarded
def on_enable(*_: Any) -> None:
    """The extension was enabled or updated while a file is open; Blender keeps it from `register` itself."""
    for scene in bpy.data.scenes:
        versions.update(scene)
    if not bpy.app.background:
        loading.compile_early()


@_guarded
def on_render_init(scene: bpy.types.Scene, *_: Any) -> None:
    """From here on frames are only looked up."""
    sessions.is_rendering = True
    display = sessions.of(scene).display
    display.missed_frame = None
    display.missing_pictures.clear()


@_guarded
def on_render_pre(scene: bpy.types.Scene, *_: Any) -> None:
    """A frame is about to be rendered. Panels show what is missing until it is there."""
    missing_frames.before_frame(scene)


@_guarded
def on_render_write(scene: bpy.types.Scene, *_: Any) -> None:
    """The picture of a frame was written."""
    missing_frames.after_frame(scene)


@_guarded
def on_render_end(scene: bpy.types.Scene, *_: Any) -> None:
    """The viewport may simulate again."""
    sessions.is_rendering = False
    missing_frames.after_render(scene)


HANDLERS = (
    ("frame_change_pre", on_frame_change_pre),
    ("frame_change_post", on_frame_change_post),
    ("depsgraph_update_post", on_depsgraph_update_post),
    ("undo_pre", on_data_replaced),
    ("redo_pre", on_data_replaced),
    ("load_pre", on_data_replaced),
    ("undo_post", on_undo_post),
    ("redo_post", on_undo_post),
    ("load_post", on_load_post),
    ("save_pre", on_save_pre),
    ("save_post", on_save_post),
    ("save_post_fail", on_save_end),
    ("blend_import_post", on_import_post),
    ("render_init", on_render_init),
    ("render_pre", on_render_pre),
    ("render_write", on_render_write),
    ("render_complete", on_render_end),
    ("render_cancel", on_render_end),
)


def register() -> None:
    """Add the handlers, each once."""
    bpy.app.timers.register(on_enable)
    for name, handler in HANDLERS:
        listed = getattr(bpy.app.handlers, name, None)  # some came after Blender 4.2
        if listed is not None and handler not in listed:
            listed.append(handler)


def unregister() -> None:
    """Remove them."""
    if bpy.app.timers.is_registered(on_enable):
        bpy.app.timers.unregister(on_enable)
    for name, handler in HANDLERS:
        listed = getattr(bpy.app.handlers, name, None)
        if listed is not None and handler in listed:
            listed.remove(handler)
