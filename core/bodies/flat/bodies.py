"""Flat bodies from the arguments of the builder."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ... import topology
from ...amount import start_gas
from ...array_types import FloatArray
from ...checks import check, positions_of
from ...errors import MeshError
from ..automatic_cells import automatic_cell_size
from ..given import GivenMembrane
from ..parts import loop_modulus, with_masses, with_springs
from .band import GivenFlat, band_of, caps_of, loop_lattice
from .cells import cell_areas, fill_flat
from .outline import FLATNESS, Outline, check_loop, outline_of
from .truss import truss_lattice


def given_loop(
    name: str, positions: ArrayLike, outline: ArrayLike | None, settings: Mapping[str, Any], pinned: ArrayLike | None,
    ambient_pressure: float,
) -> GivenMembrane:  # fmt: skip
    """Arguments of `ModelBuilder.add_loop`, as a band; raises `MeshError` or `ParameterError`."""
    given = positions_of(name, positions)
    found = check_loop(name, given, outline)
    depth = depth_of(settings["depth"], found)
    mass, stretch_modulus = settings["mass"], settings["stretch_modulus"]
    spring_constant, point_mass = settings["spring_constant"], settings["point_mass"]
    side = np.linalg.norm(np.roll(found.corners, -1, axis=0) - found.corners, axis=1)
    count = len(side)
    corner = np.arange(count)
    band = band_of(found.corners, np.stack([corner, (corner + 1) % count], axis=1), found.normal, depth)
    mask = topology.pin_mask(name, count, pinned)
    lattice = loop_lattice(given, found.vertices, side, depth, mass, stretch_modulus, mask)
    if spring_constant is not None:
        lattice, _ = with_springs(lattice, band.positions, spring_constant, 2)
        stretch_modulus = loop_modulus(side, depth, spring_constant)
    if point_mass is not None:
        lattice, mass = with_masses(lattice, point_mass, 2)
    caps = caps_of(count)
    volume = topology.signed_volume(band.positions, np.concatenate([band.triangles, caps]))
    pressure, gas = start_gas(name, settings, volume, ambient_pressure)
    return GivenMembrane(
        name=name,
        positions=band.positions,
        triangles=band.triangles,
        settings=settings,
        order=np.arange(2 * count, dtype=np.int32),
        mass=float(mass),
        gauge_pressure=pressure,
        pinned=lattice.holds.pinned,
        velocity=within(found, settings["velocity"]),
        stretch_modulus=stretch_modulus,
        lattice=lattice,
        flat=GivenFlat(found.normal, depth, caps),
        gas=gas,
    )


def given_flat_truss(
    name: str, positions: ArrayLike, outline: ArrayLike | None, settings: Mapping[str, Any], density: float | None,
    pinned: ArrayLike | None, ambient_pressure: float,
) -> GivenMembrane:  # fmt: skip
    """Arguments of `ModelBuilder.add_flat_truss`, as a band; raises `MeshError` or `ParameterError`."""
    given = positions_of(name, positions)
    found = outline_of(name, given, outline)
    away = np.abs(np.einsum("ij,j->i", given - found.origin, found.normal)).max()
    if away > FLATNESS * float(np.linalg.norm(np.ptp(found.corners, axis=0))):
        raise MeshError(f"{name}: not flat; a vertex is {away:.3g} m off the plane. Scale it to 0 along the normal.")
    mass, modulus = settings["mass"], settings["modulus"]
    spring_constant, point_mass = settings["spring_constant"], settings["point_mass"]
    corners, spots = found.in_plane(found.corners), found.in_plane(given)
    cell_size = settings["cell_size"] or automatic_cell_size(name, given, None, found.vertices)
    cells = fill_flat(name, corners, cell_size)
    depth = settings["depth"] or float(cells.size.mean())
    areas = cell_areas(cells)
    if density is not None:
        mass = check(name, "density", density, "kg/m\u00b3", low=0.0, open_low=True) * depth * float(areas.sum())
    band = band_of(found.origin + cells.points @ found.axes(), cells.sides, found.normal, depth)
    mask = topology.pin_mask(name, len(given), pinned)
    lattice = truss_lattice(cells, found, given, spots, depth, mass, modulus, mask)
    if spring_constant is not None:
        lattice, share = with_springs(lattice, band.positions, spring_constant, 2)
        modulus = share * modulus
    if point_mass is not None:
        lattice, mass = with_masses(lattice, point_mass, 2)
    return GivenMembrane(
        name=name,
        positions=band.positions,
        triangles=band.triangles,
        settings=settings,
        order=np.arange(len(band.positions), dtype=np.int32),
        mass=float(mass),
        gauge_pressure=-ambient_pressure,  # no gas at all
        pinned=lattice.holds.pinned,
        velocity=within(found, settings["velocity"]),
        lattice=lattice,
        flat=GivenFlat(found.normal, depth, np.zeros((0, 3), np.int32)),
        young_modulus=float(modulus),
        particle_diameter=2.0 * settings["particle_radius"] * float(cells.size.mean()),
    )


def depth_of(depth: float, outline: Outline) -> float:
    """The given depth [m], or the mean edge length of the outline."""
    side = np.linalg.norm(np.roll(outline.corners, -1, axis=0) - outline.corners, axis=1)
    return depth or float(side.mean())


def within(outline: Outline, values: FloatArray) -> FloatArray:
    """Projection of a vector into the plane."""
    moved: FloatArray = values - float((values * outline.normal).sum()) * outline.normal
    return moved
