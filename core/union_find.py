"""Union-find: connected components of bodies. An island is named by its lowest member."""

from .jit import lean_kernel


@lean_kernel
def root_of(parent, body):
    """Lowest member of an island."""
    while parent[body] != body:
        parent[body] = parent[parent[body]]
        body = parent[body]
    return body


@lean_kernel
def unite(parent, a, b):
    """Make two islands one."""
    a, b = root_of(parent, a), root_of(parent, b)
    parent[max(a, b)] = min(a, b)


@lean_kernel
def name_islands(parent):
    """Point every member directly to its island's lowest one."""
    for body in range(parent.shape[0]):
        parent[body] = root_of(parent, body)
