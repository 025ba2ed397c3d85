"""What the simulation offers to the adapter, scripts and tests."""

from .amount import moles, nrt
from .builder import ModelBuilder
from .diagnostics import BodyDiagnostics, Diagnostics
from .errors import CacheError, DivergenceError, MeshError, ParameterError, SoftPressureError
from .frame_input import FrameInput
from .impulses.field import Field
from .impulses.pulls import Handle, Pull
from .model import Model
from .options import MethodOptions
from .reports import PairReport, StepReport
from .simulation_mesh.bound import bound_mesh
from .simulation_mesh.coarse_cage import CoarseCage, is_coarse
from .simulation_mesh.even import EvenMesh, even_mesh, even_mesh_slices
from .simulation_mesh.follower import Follower
from .simulation_mesh.groups import carried_vertices, carried_weights
from .simulation_mesh.inverse import InverseFollower
from .simulation_mesh.subdivision import Subdivision
from .simulation_mesh.torn import DrawnTriangles
from .solvers.notes import Finding, Reason
from .state import State
from .topology import check_closed_surface
from .world import World

__all__ = [
    "BodyDiagnostics",
    "CacheError",
    "CoarseCage",
    "Diagnostics",
    "DivergenceError",
    "DrawnTriangles",
    "EvenMesh",
    "Field",
    "Finding",
    "Follower",
    "FrameInput",
    "Handle",
    "InverseFollower",
    "MeshError",
    "MethodOptions",
    "Model",
    "ModelBuilder",
    "PairReport",
    "ParameterError",
    "Pull",
    "Reason",
    "SoftPressureError",
    "State",
    "StepReport",
    "Subdivision",
    "World",
    "bound_mesh",
    "carried_vertices",
    "carried_weights",
    "check_closed_surface",
    "even_mesh",
    "even_mesh_slices",
    "is_coarse",
    "moles",
    "nrt",
]
