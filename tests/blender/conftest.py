from bpy_scene import empty_file, falling

__all__ = ["empty_file", "falling"]
