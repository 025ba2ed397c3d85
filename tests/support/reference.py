"""Slow numpy twins of the core's kernels: textbook formulas and plain loops, nothing taken from the core.

They work on one mesh at a time, in the caller's order.
"""

import numpy as np

#: Length of the sum of two unit normals below which a hinge's rest bend fades.
FOLD = 0.1
#: Corners of a hinge's two triangles, counter-clockwise from outside.
SIDES = ((0, 1, 2), (1, 0, 3))

# --- the mesh as springs, hinges and masses -------------------------------------------------------------------


def edge_triangles(triangles):
    """{(low, high): [(triangle, opposite corner, runs low to high?)]} in ascending order of edges."""
    found = {}
    for number, triangle in enumerate(triangles):
        for k in range(3):
            i, j, opposite = (int(triangle[(k + s) % 3]) for s in range(3))
            found.setdefault((min(i, j), max(i, j)), []).append((number, opposite, i < j))
    return dict(sorted(found.items()))


def triangle_area(x, triangle):
    """Heron's formula [m^2]."""
    a, b, c = (np.linalg.norm(x[triangle[k]] - x[triangle[(k + 1) % 3]]) for k in range(3))
    s = 0.5 * (a + b + c)
    return np.sqrt(s * (s - a) * (s - b) * (s - c))


def springs(x, triangles, modulus):
    """Edges, rest lengths [m] and spring constants [N/m] (Van Gelder 1998, eq. 20, with E t = Y)."""
    edges, lengths, constants = [], [], []
    for (i, j), sides in edge_triangles(triangles).items():
        length = np.linalg.norm(x[i] - x[j])
        edges.append((i, j))
        lengths.append(length)
        constants.append(modulus * sum(triangle_area(x, triangles[side[0]]) for side in sides) / length**2)
    return np.array(edges), np.array(lengths), np.array(constants)


def cotangent(x, at, first, second):
    """Cotangent of a triangle's angle at one of its corners."""
    u, v = x[first] - x[at], x[second] - x[at]
    return u @ v / np.linalg.norm(np.cross(u, v))


def hinges(x, triangles, modulus):
    """Points (low, high, apex left of it, apex right), weights, rest bends [m], normal scales and k [N/m].

    The weights are the row of cotangents in Bergou et al. 2006; k = 3 B / area.
    """
    points, weights, bends, scales, constants = [], [], [], [], []
    for (i, j), sides in edge_triangles(triangles).items():
        if len(sides) != 2:
            continue
        p = next(side for side in sides if side[2])[1]
        q = next(side for side in sides if not side[2])[1]
        at_i = [cotangent(x, i, j, p), cotangent(x, i, j, q)]
        at_j = [cotangent(x, j, i, p), cotangent(x, j, i, q)]
        weight = np.array([sum(at_j), sum(at_i), -at_i[0] - at_j[0], -at_i[1] - at_j[1]])
        hinge = [i, j, p, q]
        areas = np.array([triangle_area(x, [i, j, p]), triangle_area(x, [j, i, q])])
        unit = unfolded(x[hinge], 0.5 / areas)
        faded = np.sqrt(unit @ unit + FOLD**2)
        points.append(hinge)
        weights.append(weight)
        scales.append(0.5 / areas)
        # c m is the bend vector at rest, which is parallel to m; near a fold c is held back
        bends.append(weight @ x[hinge] @ unit * faded / max(unit @ unit, FOLD**2))
        constants.append(3.0 * modulus / areas.sum())
    return tuple(np.array(column) for column in (points, weights, bends, scales, constants))


def vertex_masses(x, triangles, mass):
    """A third of each triangle's share of the mass goes to each corner [kg]."""
    masses = np.zeros(len(x))
    areas = [triangle_area(x, triangle) for triangle in triangles]
    for triangle, area in zip(triangles, areas, strict=True):
        masses[triangle] += mass * area / sum(areas) / 3.0
    return masses


# --- energies of a body: each returns (energy, force) -----------------------------------------------------------


def stretch(x, edges, rest_length, stiffness):
    """Springs."""
    energy, force = 0.0, np.zeros_like(x)
    for (i, j), rest, k in zip(edges, rest_length, stiffness, strict=True):
        along = x[j] - x[i]
        length = np.linalg.norm(along)
        unit = along / length
        energy += 0.5 * k * (length - rest) ** 2
        force[i] += k * (length - rest) * unit
        force[j] -= k * (length - rest) * unit
    return energy, force


def skew(v):
    """Matrix whose product with a vector is the cross product of v with it."""
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def unfolded(p, scale):
    """n of a hinge at the points p, shape (4, 3): the sum of both normals, each times its scale."""
    return sum(s * np.cross(p[b] - p[a], p[c] - p[a]) for s, (a, b, c) in zip(scale, SIDES, strict=True))


def bend(x, points, weights, rest_bend, normal_scale, stiffness):
    """Hinges, k |b - c m|^2 / 2, with d(b - c m)/dx of each as a 3 x 12 matrix."""
    energy, force = 0.0, np.zeros_like(x)
    for hinge, w, c, scale, k in zip(points, weights, rest_bend, normal_scale, stiffness, strict=True):
        p = x[hinge]
        normal = unfolded(p, scale)
        length = np.sqrt(normal @ normal + FOLD**2)
        # a corner moves its triangle's normal by the cross product with the opposite side
        normal_slope = np.zeros((3, 4, 3))
        for s, corners in zip(scale, SIDES, strict=True):
            for corner in range(3):
                opposite = p[corners[(corner + 2) % 3]] - p[corners[(corner + 1) % 3]]
                normal_slope[:, corners[corner]] += s * skew(opposite)
        shrink = np.eye(3) / length - np.outer(normal, normal) / length**3
        slope = np.kron(w, np.eye(3)) - c * shrink @ normal_slope.reshape(3, 12)
        rest = w @ p - c * normal / length
        energy += 0.5 * k * rest @ rest
        force[hinge] -= k * (slope.T @ rest).reshape(4, 3)
    return energy, force


def volume(x, triangles):
    """Sum of tetrahedra on the mean point [m^3]."""
    middle = x.mean(axis=0)
    return sum(np.linalg.det(x[triangle] - middle) for triangle in triangles) / 6.0


def area_vectors(x, triangles):
    """A third of the area vectors of the triangles at each vertex: dV/dx of a closed surface [m^2]."""
    vectors = np.zeros_like(x)
    for i, j, k in triangles:
        vectors[[i, j, k]] += np.cross(x[j] - x[i], x[k] - x[i]) / 6.0
    return vectors


def gas(x, triangles, rest_volume, amount, ambient):
    """Ideal gas of nRT = `amount` [J], continued below a twentieth of the rest volume to second order."""
    v = volume(x, triangles)
    at = max(v, 0.05 * rest_volume)  # where the law is expanded: at v itself, or at the smallest volume
    value, slope, curvature = -amount * np.log(at / rest_volume), -amount / at, amount / at**2
    pressure = -(slope + curvature * (v - at)) - ambient
    energy = value + slope * (v - at) + 0.5 * curvature * (v - at) ** 2 + ambient * (v - rest_volume)
    return energy, pressure * area_vectors(x, triangles), (v, pressure, curvature)


# --- integrators -----------------------------------------------------------------------------------------------


def rk4_martin(body, x0, v0, t):
    """Martin 2009, section 3.2, as printed."""
    a0 = body.force(x0) / body.mass
    v1 = v0 + a0 * t / 2
    x1 = x0 + v1 * t / 2
    a1 = body.force(x1) / body.mass
    v2 = v0 + a1 * t / 2
    x2 = x0 + v2 * t / 2
    a2 = body.force(x2) / body.mass
    v3 = v0 + a2 * t
    x3 = x0 + v3 * t
    a3 = body.force(x3) / body.mass
    v = v0 + (a0 + a3 + 2 * (a1 + a2)) / 6 * t
    return x0 + v * t, v


# --- inertia and losses ----------------------------------------------------------------------------------------


def inertia_tensor(x, mass):
    """About the centre of mass [kg m^2]; 1e-13 of the trace is added, so that a line has an inverse."""
    centre = mass @ x / mass.sum()
    tensor = sum(m * (r @ r * np.eye(3) - np.outer(r, r)) for m, r in zip(mass, x - centre, strict=True))
    return tensor + 1e-13 * np.trace(tensor) * np.eye(3)


def angular_momentum(x, v, mass):
    """About the centre of mass [kg m^2/s]."""
    centre, velocity = mass @ x / mass.sum(), mass @ v / mass.sum()
    return sum(m * np.cross(r, u) for m, r, u in zip(mass, x - centre, v - velocity, strict=True))


def rigid_motion(x, v, mass):
    """Centre [m], velocity [m/s] and angular velocity [1/s] of the rigid motion of the same momenta."""
    spin = np.linalg.solve(inertia_tensor(x, mass), angular_momentum(x, v, mass))
    return mass @ x / mass.sum(), mass @ v / mass.sum(), spin


def rigid_velocities(x, v, mass):
    """Velocities [m/s] of that motion at the vertices."""
    centre, velocity, spin = rigid_motion(x, v, mass)
    return velocity + np.cross(spin, x - centre)


def relative_speed(x, v, mass):
    """RMS speed [m/s] apart from the rigid motion."""
    away = v - rigid_velocities(x, v, mass)
    return np.sqrt(np.sum(mass * np.sum(away**2, axis=1)) / mass.sum())


# --- closed forms ----------------------------------------------------------------------------------------------


def ball_strain(radius, gauge_pressure, modulus, ambient=101_325.0):
    """Strain e of an inflated ball: [(p + pa) / (1 + e)^3 - pa] r (1 + e) / 2 = 1.5 Y e / (1 + e), by bisection.

    A triangle net of springs has Poisson ratio 1/3, so equal strain needs the tension Y e / (1 - 1/3) per length at
    rest; per present length it is less by 1 + e (0.001 of V / V0 for a basketball).
    """
    low, high = 0.0, 10.0
    for _ in range(100):
        e = 0.5 * (low + high)
        pressure = (gauge_pressure + ambient) / (1 + e) ** 3 - ambient
        if pressure * radius * (1 + e) / 2 > 1.5 * modulus * e / (1 + e):
            low = e
        else:
            high = e
    return low
