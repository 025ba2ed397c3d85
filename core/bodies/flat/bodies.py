"""Flat bodies from the arguments of the builder."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from ... import topology
from ...amount import start_gas
from ...checks import check, check_choice, check_surface_numbers, positions_of, vector
from ...errors import MeshError
from ...model import FloatArray
from ..given import DRAWN_SHAPES, MOST_PARTICLE_RADIUS, PRESSURES_AT, GivenMembrane, GivenPlasticity
from ..lattice.solids import AUTOMATIC_CELLS
from ..parts import check_parts, loop_modulus, with_masses, with_springs
from .band import GivenFlat, band_of, caps_of, loop_lattice
from .cells import cell_areas, fill_flat
from .outline import FLATNESS, Outline, check_loop, outline_of
from .truss import truss_lattice


def given_loop(
    name: str, positions: ArrayLike, outline: ArrayLike | None, *, depth: float, mass: float, gauge_pressure: float,
    ambient_pressure: float, stretch_modulus: float, bend_modulus: float, damping: float, spring_damping: float,
    rigid_springs: bool, friction: float, bounciness: float, thickness: float, self_collision: bool,
    pinned: ArrayLike | None, velocity: Sequence[float], pressure_at: str, drawn_shape: str, start_at_rest: bool,
    gas_amount: float | None, temperature: float, spring_constant: float | None, point_mass: float | None,
    plasticity: GivenPlasticity,
) -> GivenMembrane:  # fmt: skip
    """Arguments of `ModelBuilder.add_loop`, as a band; raises `MeshError` or `ParameterError`."""
    given = positions_of(name, positions)
    found = check_loop(name, given, outline)
    check(name, "mass", mass, "kg", low=0.0, open_low=True)
    check_parts(name, spring_constant, point_mass)
    check(name, "stretch modulus", stretch_modulus, "N/m", low=0.0, open_low=True)
    check(name, "bend modulus", bend_modulus, "N m", low=0.0)
    check(name, "damping", damping, "1/s", low=0.0)
    check(name, "spring damping", spring_damping, "N s/m", low=0.0)
    check_surface_numbers(name, friction, bounciness, thickness)
    depth = depth_of(name, depth, found)
    side = np.linalg.norm(np.roll(found.corners, -1, axis=0) - found.corners, axis=1)
    count = len(side)
    corner = np.arange(count)
    band = band_of(found.corners, np.stack([corner, (corner + 1) % count], axis=1), found.normal, depth)
    numbers = None if pinned is None else np.asarray(pinned, dtype=np.int32)
    mask = topology.pin_mask(name, count, numbers)
    lattice = loop_lattice(given, found.vertices, side, depth, float(mass), float(stretch_modulus), mask)
    if spring_constant is not None:
        lattice, _ = with_springs(lattice, band.positions, spring_constant, 2)
        stretch_modulus = loop_modulus(side, depth, spring_constant)
    if point_mass is not None:
        lattice, mass = with_masses(lattice, point_mass, 2)
    caps = caps_of(count)
    volume = topology.signed_volume(band.positions, np.concatenate([band.triangles, caps]))
    pressure, gas = start_gas(name, gauge_pressure, gas_amount, temperature, volume, ambient_pressure)
    return GivenMembrane(
        name=name,
        positions=band.positions,
        triangles=band.triangles,
        order=np.arange(2 * count, dtype=np.int32),
        mass=float(mass),
        gauge_pressure=pressure,
        stretch_modulus=float(stretch_modulus),
        bend_modulus=float(bend_modulus),
        damping=float(damping),
        friction=float(friction),
        bounciness=float(bounciness),
        thickness=float(thickness),
        self_collision=bool(self_collision),
        pinned=lattice.holds.pinned,
        velocity=within(found, vector(name, "velocity", velocity, "m/s")),
        spring_damping=float(spring_damping),
        rigid_springs=bool(rigid_springs),
        lattice=lattice,
        flat=GivenFlat(found.normal, depth, caps),
        pressure_at=check_choice(name, "pressure at", pressure_at, PRESSURES_AT) if gas is None else "DRAWN",
        drawn_shape=check_choice(name, "drawn shape", drawn_shape, DRAWN_SHAPES),
        start_at_rest=bool(start_at_rest),
        gas=gas,
        spring_constant=float(spring_constant or 0.0),
        point_mass=float(point_mass or 0.0),
        plasticity=plasticity,
    )


def given_flat_truss(
    name: str, positions: ArrayLike, outline: ArrayLike | None, *, depth: float, cell_size: float, mass: float,
    density: float | None, modulus: float, ambient_pressure: float, damping: float, spring_damping: float,
    rigid_springs: bool, friction: float, bounciness: float, thickness: float, pinned: ArrayLike | None,
    velocity: Sequence[float], particle_radius: float, spring_constant: float | None, point_mass: float | None,
    plasticity: GivenPlasticity, stiffening: float,
) -> GivenMembrane:  # fmt: skip
    """Arguments of `ModelBuilder.add_flat_truss`, as a band; raises `MeshError` or `ParameterError`."""
    given = positions_of(name, positions)
    found = outline_of(name, given, outline)
    away = np.abs(np.einsum("ij,j->i", given - found.origin, found.normal)).max()
    if away > FLATNESS * float(np.linalg.norm(np.ptp(found.corners, axis=0))):
        raise MeshError(f"{name}: not flat; a vertex is {away:.3g} m off the plane. Scale it to 0 along the normal.")
    check(name, "depth", depth, "m", low=0.0)
    check(name, "cell size", cell_size, "m", low=0.0)
    check(name, "modulus", modulus, "Pa", low=0.0, open_low=True)
    check(name, "particle radius", particle_radius, "of a cell", low=0.0, high=MOST_PARTICLE_RADIUS)
    check(name, "damping", damping, "1/s", low=0.0)
    check(name, "spring damping", spring_damping, "Pa s", low=0.0)
    check_surface_numbers(name, friction, bounciness, thickness)
    corners, spots = found.in_plane(found.corners), found.in_plane(given)
    cells = fill_flat(name, corners, float(cell_size) or float(np.ptp(corners, axis=0).min()) / AUTOMATIC_CELLS)
    depth = float(depth) or float(cells.size.mean())
    areas = cell_areas(cells)
    if density is not None:
        mass = check(name, "density", density, "kg/m\u00b3", low=0.0, open_low=True) * depth * float(areas.sum())
    check(name, "mass", mass, "kg", low=0.0, open_low=True)
    band = band_of(found.origin + cells.points @ found.axes(), cells.sides, found.normal, depth)
    numbers = None if pinned is None else np.asarray(pinned, dtype=np.int32)
    mask = topology.pin_mask(name, len(given), numbers)
    lattice = truss_lattice(cells, found, given, spots, depth, float(mass), float(modulus), mask)
    check_parts(name, spring_constant, point_mass)
    if spring_constant is not None:
        lattice, share = with_springs(lattice, band.positions, spring_constant, 2)
        modulus = share * modulus
    if point_mass is not None:
        lattice, mass = with_masses(lattice, point_mass, 2)
    return GivenMembrane(
        name=name,
        positions=band.positions,
        triangles=band.triangles,
        order=np.arange(len(band.positions), dtype=np.int32),
        mass=float(mass),
        gauge_pressure=-ambient_pressure,  # no gas at all
        stretch_modulus=0.0,
        bend_modulus=0.0,
        damping=float(damping),
        friction=float(friction),
        bounciness=float(bounciness),
        thickness=float(thickness),
        self_collision=False,
        pinned=lattice.holds.pinned,
        velocity=within(found, vector(name, "velocity", velocity, "m/s")),
        spring_damping=float(spring_damping),
        rigid_springs=bool(rigid_springs),
        lattice=lattice,
        flat=GivenFlat(found.normal, depth, np.zeros((0, 3), np.int32)),
        young_modulus=float(modulus),
        particle_diameter=2.0 * float(particle_radius) * float(cells.size.mean()),
        spring_constant=float(spring_constant or 0.0),
        point_mass=float(point_mass or 0.0),
        plasticity=plasticity,
        stiffening=stiffening,
    )


def depth_of(name: str, depth: float, outline: Outline) -> float:
    """The given depth [m], or the mean edge length of the outline."""
    check(name, "depth", depth, "m", low=0.0)
    side = np.linalg.norm(np.roll(outline.corners, -1, axis=0) - outline.corners, axis=1)
    return float(depth) or float(side.mean())


def within(outline: Outline, values: FloatArray) -> FloatArray:
    """Projection of a vector into the plane."""
    moved: FloatArray = values - float((values * outline.normal).sum()) * outline.normal
    return moved
