from bpy_scene import begin, empty_file, falling, weightless

__all__ = ["begin", "empty_file", "falling", "weightless"]
