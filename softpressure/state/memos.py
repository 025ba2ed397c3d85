"""Values computed from the file, kept until what they were computed from may have changed."""

from collections.abc import Callable, Hashable
from typing import Any

import bpy
import numpy as np

#: Number of possible changes so far.
_changes = 0


class Memo:
    """Values computed from the file, each by a key, until the next possible change."""

    def __init__(self) -> None:
        self._change, self._values = -1, dict[Hashable, Any]()

    def get(self, key: Hashable, compute: Callable[[], Any]) -> Any:
        """The value of a key, computed if it is not known."""
        if self._change != _changes:
            self._change = _changes
            self._values.clear()
        if key not in self._values:
            self._values[key] = compute()
        return self._values[key]


class ObjectMemo:
    """Values computed from a few objects of a scene, each by a key, until a change of one of these is possible."""

    def __init__(self, scene: bpy.types.Scene) -> None:
        self.members, self._values = members(scene), dict[Hashable, tuple[Any, set[int]]]()

    def get(
        self, scene: bpy.types.Scene, key: Hashable, compute: Callable[[], tuple[Any, set[bpy.types.Object]]]
    ) -> Any:
        """The value of a key. `compute` also names the objects whose data, settings or animation it reads.

        It is kept only if all dependency graphs of the scene have these objects, so that each tells of their changes.
        """
        if key in self._values:
            return self._values[key][0]
        value, read = compute()
        graphs = [layer.depsgraph for layer in scene.view_layers if layer.depsgraph is not None]
        if all(obj.evaluated_get(graph).is_evaluated for graph in graphs for obj in read):
            self._values[key] = value, {obj.session_uid for obj in read}
        return value

    def forget(self, uids: set[int]) -> None:
        """Drop what was computed from any of these objects."""
        for key in [key for key, (_, read) in self._values.items() if not read.isdisjoint(uids)]:
            del self._values[key]


memo = Memo()
_of_scenes: dict[int, ObjectMemo] = {}  # by `session_uid`


def members(scene: bpy.types.Scene) -> bytes:
    """Which objects are in a scene: a script may remove some and no handler is called before the next frame change."""
    found = np.empty(len(scene.objects), np.int32)
    scene.objects.foreach_get("session_uid", found)
    return found.tobytes()


def of_objects(scene: bpy.types.Scene) -> ObjectMemo:
    """What is known of the objects of a scene."""
    known = _of_scenes.get(scene.session_uid)
    if known is None or known.members != members(scene):
        known = _of_scenes[scene.session_uid] = ObjectMemo(scene)
    return known


def mark_all() -> None:
    """Count a possible change of anything: all is computed again on its next use."""
    global _changes
    _changes += 1
    _of_scenes.clear()


def mark(uids: set[int], scene: bpy.types.Scene | None = None) -> None:
    """Count a possible change of these objects alone, by `session_uid`.

    scene: the one whose dependency graph tells of them; it does not know the objects of others.
    """
    global _changes
    _changes += 1
    for uid in [uid for uid in _of_scenes if scene is not None and uid != scene.session_uid]:
        del _of_scenes[uid]
    for known in _of_scenes.values():
        known.forget(uids)


def forget_objects() -> None:
    """Keep nothing of objects beyond the next possible change: some may have been edited without a word."""
    _of_scenes.clear()


def change_count() -> int:
    """A number that grows with every possible change."""
    return _changes
