"""The arrays of a model from the builder's bodies."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import topology
from ..array_types import BoolArray, FloatArray
from ..energy.hinges import rest_hinges
from ..impulses.goals import GivenGoals, rest_goals
from ..model import Hoses, Model, Plasticity
from . import assembly
from .attachments import Attached, anchor_positions, rest_attachments
from .gas_laws import gas_base, gas_exponent
from .given import GivenBody, GivenMembrane, GivenRigid
from .rigid.bodies import rigid_bodies
from .rounding import check_rounding

if TYPE_CHECKING:
    from ..inflation.filling import Filling
    from .links import GivenHose

#: Tear strain of what tears only where it is cut, or later.
NEVER_TEARS = 1e9


def freeze(
    membranes: list[GivenMembrane],
    rigid: list[GivenRigid],
    colliders: list[GivenBody],
    attached: list[Attached],
    gravity: FloatArray,
    scene: Mapping[str, Any],
    fillings: "Sequence[Filling | None]" = (),
    ignores: BoolArray | None = None,
    goals: Sequence[GivenGoals] = (),
    hoses: "Sequence[GivenHose]" = (),
) -> Model:
    """The model of these bodies; `gravity` [m/s^2], settings of the scene, `fillings`, `goals` and `hoses`, if any.

    `ignores`: pairs of bodies that ignore each other, as in the model; None for none.
    """

    def settings(name: str, of: Sequence[GivenBody] = membranes) -> Any:
        return np.array([body.setting(name) for body in of])

    bodies: list[GivenBody] = [*membranes, *rigid, *colliders]
    anchors = [anchor_positions(attached, number, membranes) for number in range(len(rigid))]
    places = [body.positions for body in membranes]
    places += [np.concatenate([body.positions, anchor]) for body, anchor in zip(rigid, anchors, strict=True)]
    places += [body.positions for body in colliders]
    point_start = topology.starts([len(part) for part in places])
    vertex_count = int(point_start[len(membranes)])
    triangles = np.concatenate(
        [body.triangles + start for body, start in zip(bodies, point_start, strict=False)]
    ).astype(np.int32)
    triangle_start = topology.starts([len(body.triangles) for body in bodies])
    skin = triangles[: triangle_start[len(membranes)]]
    body_of_point = np.repeat(np.arange(len(bodies), dtype=np.int32), np.diff(point_start))
    positions = np.concatenate(places)
    edges = assembly.spring_edges(membranes, positions, point_start)
    gas_skin = np.concatenate(
        [np.zeros((0, 3), np.int32)]
        + [body.gas_triangles + start for body, start in zip(membranes, point_start, strict=False)]
    ).astype(np.int32)
    bend_modulus = settings("bend_modulus")
    spring_damping = settings("spring_damping")
    hinge_share = np.array([body.hinge_share for body in membranes])
    vertex_body = body_of_point[:vertex_count]
    hinges = rest_hinges(positions, skin, (hinge_share * bend_modulus)[vertex_body], vertex_body, edges)
    point_of_vertex = np.concatenate(
        [np.argsort(body.order) + start for body, start in zip(membranes, point_start, strict=False)]
        + [np.arange(vertex_count, len(positions))]
    ).astype(np.int32)
    drawn_volume = np.array(
        [topology.signed_volume(b.positions, b.gas_triangles) if b.has_gas else 0.0 for b in membranes]
    )
    rest_volume = assembly.rest_volumes(membranes, fillings, drawn_volume)
    fill_mass = settings("fill_density") * settings("fill_share") * rest_volume
    vertex_mass = assembly.vertex_masses(membranes, fill_mass)
    followers = assembly.lattice_followers(membranes, point_start)
    soft_mass = [m.mass + fill for m, fill in zip(membranes, fill_mass, strict=True)]
    body_mass = np.concatenate([soft_mass, settings("mass", [*rigid, *colliders])])
    thickness = assembly.thicknesses(bodies, edges, body_of_point)
    check_rounding([body.name for body in (*membranes, *rigid)], positions, point_start, thickness)
    return Model(
        body_names=tuple(body.name for body in bodies),
        membrane_count=len(membranes),
        rigid_count=len(rigid),
        body_point_start=point_start,
        point_body=body_of_point,
        point_of_vertex=point_of_vertex,
        rest_positions=positions,
        start_positions=assembly.start_positions(membranes, fillings, positions, point_start),
        start_velocities=np.repeat(
            np.array([body.velocity for body in membranes]).reshape(-1, 3),
            np.diff(point_start)[: len(membranes)],
            axis=0,
        ),
        vertex_mass=vertex_mass,
        pinned=np.concatenate([np.zeros(0, dtype=bool), *(body.pinned for body in membranes)]),
        surfaces=assembly.contact_surfaces(triangles, triangle_start),
        edges=edges._replace(rest_length=assembly.rest_lengths(fillings, edges, body_of_point)),
        edge_damping=assembly.edge_dampers(
            edges.stiffness,
            body_of_point[edges.points[:, 0]],
            spring_damping,
            np.array([body.elastic_modulus for body in membranes]),
        ),
        hinges=hinges,
        tetrahedra=assembly.solid_tetrahedra(membranes, positions, point_start),
        cells=assembly.lattice_cells(membranes, point_start),
        followers=followers,
        flat=assembly.flat_bodies(membranes, point_start),
        circles=assembly.truss_circles(membranes, point_start),
        fans=assembly.triangle_fans(gas_skin, vertex_count),
        rigid=rigid_bodies(
            rigid, positions, point_start[len(membranes) : len(membranes) + len(rigid) + 1], vertex_count
        ),
        attachments=rest_attachments(
            attached,
            positions,
            point_start,
            len(membranes),
            [len(body.positions) for body in rigid],
            skin,
            triangle_start,
            edges,
        ),
        goals=rest_goals(goals, point_of_vertex, point_start, followers, vertex_mass, body_mass, positions),
        plasticity=_plasticity(membranes, any(body.setting("sharp") for body in (*rigid, *colliders))),
        weakness=np.concatenate(
            [np.zeros(0)] + [np.zeros(len(b.positions)) if b.weakness is None else b.weakness for b in membranes]
        ),
        pressure_weight=np.concatenate(
            [np.zeros(0)]
            + [np.ones(len(b.positions)) if b.pressure_weight is None else b.pressure_weight for b in membranes]
        ),
        hoses=Hoses(
            np.array([(hose.one, hose.other) for hose in hoses], np.int32).reshape(-1, 2),
            np.array([hose.conductance for hose in hoses]),
            np.array([hose.valve for hose in hoses]),
        ),
        drawn_volume=drawn_volume,
        start_volume=np.where([body.starts_at_rest for body in membranes], rest_volume, drawn_volume),
        rest_volume=rest_volume,
        fillings=tuple(fillings) or (None,) * len(membranes),
        gas_base=np.array([gas_base(body, scene["ambient_pressure"]) for body in membranes]),
        gas_exponent=np.array([gas_exponent(body) for body in membranes]),
        fill_density=settings("fill_density"),
        fill_mass=fill_mass,
        inflation_time=settings("inflation_time"),
        gauge_pressure=np.array([body.gauge_pressure for body in membranes]),
        has_amount=np.array([body.gas is not None for body in membranes], bool),
        damping=settings("damping"),
        spring_damping=spring_damping,
        rigid_springs=settings("rigid_springs"),
        rigid_volumes=np.array([body.settings.get("volume_compliance") == 0.0 for body in membranes], bool),
        stretch_modulus=np.array([body.stretch_modulus for body in membranes]),
        bend_modulus=bend_modulus,
        hinge_share=hinge_share,
        young_modulus=np.array([body.young_modulus for body in membranes]),
        spring_constant=settings("spring_constant"),
        stiffening=settings("stiffening"),
        body_mass=body_mass,
        thickness=thickness,
        self_collision=settings("self_collision", bodies),
        friction=settings("friction", bodies),
        bounciness=settings("bounciness", bodies),
        deforms=np.array([number < len(membranes) or body.deforms for number, body in enumerate(bodies)], bool),
        ignores=np.zeros((len(bodies), len(bodies)), bool) if ignores is None else ignores,
        gravity=gravity,
        ambient_pressure=scene["ambient_pressure"],
        settings=(*(body.settings for body in bodies), scene),
    )


def _plasticity(membranes: Sequence[GivenMembrane], is_cut: bool) -> Plasticity:
    """How springs flow and tear; `is_cut`: whether skins of gas may be cut, whatever their tear strain."""
    values = {name: np.array([body.setting(name) for body in membranes]) for name in Plasticity._fields}
    can_be_cut = np.array([is_cut and body.lattice is None for body in membranes], bool)
    values["tear_strain"] = np.where(can_be_cut & ~(values["tear_strain"] > 0.0), NEVER_TEARS, values["tear_strain"])
    return Plasticity(**values)
