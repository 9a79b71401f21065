"""A model as USD with UsdPhysics, for Isaac Sim, Newton and other readers (extra `usd`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from pushwise.export.solid import Solid, boxes
from pushwise.extras import require
from pushwise.physics.model import ObjectModel
from pushwise.typing import Array

__all__ = ["usd"]


class _Collider(NamedTuple):
    """A box that stands on the table."""

    name: str
    sides: Array  # along x, y and z [m], shape (3,)
    centre: Array  # [m], shape (3,)
    friction: float


def usd(model: ObjectModel, *, lumped: bool = False, name: str = "object") -> str:
    """Return a model as USD text: a rigid body in the grid frame, z up from the table, SI units.

    The body has mass, centre of mass, principal moments of inertia and principal axes; UsdPhysics
    holds these in single precision, so the same numbers are in its custom data (`pushwise`) in
    double precision. Each collider has a physics material with the same static and dynamic
    friction. USD does not say how the coefficients of two surfaces are combined; PhysX takes their
    mean by default.

    Args:
        model: What to export.
        lumped: One coefficient of friction for the whole body, and as few boxes as its shape
            allows. By default each cell is a box with its own friction.
        name: Name of the body.

    """
    require("pxr", extra="usd", purpose="writing USD files", package="usd-core")
    from pxr import Tf, Usd, UsdGeom, UsdPhysics

    solid = Solid.of(model)
    stage = Usd.Stage.CreateInMemory()
    stage.SetMetadata("comment", f"{name}: made by Pushwise; kg, m.")
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    body = UsdGeom.Xform.Define(stage, f"/{Tf.MakeValidIdentifier(name)}").GetPrim()
    stage.SetDefaultPrim(body)
    UsdPhysics.RigidBodyAPI.Apply(body)
    _add_mass(body, solid)
    materials: dict[float, Any] = {}
    for collider in _colliders(model, solid, lumped=lumped):
        if collider.friction not in materials:
            materials[collider.friction] = _material(stage, body, len(materials), collider.friction)
        _add_collider(stage, body, collider, materials[collider.friction])
    return str(stage.GetRootLayer().ExportToString())


def _colliders(model: ObjectModel, solid: Solid, *, lumped: bool) -> list[_Collider]:
    """Return a box for each cell, or as few boxes as the shape allows."""
    if lumped:
        return [
            _Collider(
                f"box{i}",
                np.array([box.width, box.depth, box.height]),
                np.array([box.x, box.y, 0.5 * box.height]),
                solid.friction,
            )
            for i, box in enumerate(boxes(model))
        ]
    grid = model.grid
    return [
        _Collider(
            f"cell{i}",
            np.array([grid.cell_size, grid.cell_size, height]),
            np.array([*grid.centres[i], 0.5 * height]),
            float(model.friction[i]),
        )
        for i, height in enumerate(grid.heights.tolist())
    ]


def _add_mass(body: Any, solid: Solid) -> None:
    """Give a body its mass, and the same numbers in double precision as custom data."""
    from pxr import Gf, UsdPhysics

    moments, axes = np.linalg.eigh(solid.inertia)
    axes[:, 2] *= np.sign(np.linalg.det(axes))  # a rotation, not a reflection
    x, y, z, w = Rotation.from_matrix(axes).as_quat().tolist()
    api = UsdPhysics.MassAPI.Apply(body)
    api.CreateMassAttr(solid.mass)
    api.CreateCenterOfMassAttr(Gf.Vec3f(*solid.centre.tolist()))
    api.CreateDiagonalInertiaAttr(Gf.Vec3f(*moments.tolist()))
    api.CreatePrincipalAxesAttr(Gf.Quatf(w, x, y, z))
    exact = {
        "mass": solid.mass,
        "centerOfMass": Gf.Vec3d(*solid.centre.tolist()),
        "diagonalInertia": Gf.Vec3d(*moments.tolist()),
        "principalAxes": Gf.Quatd(w, x, y, z),
    }
    for key, value in exact.items():
        body.SetCustomDataByKey(f"pushwise:{key}", value)


def _material(stage: Any, body: Any, index: int, friction: float) -> Any:
    """Return a new physics material with a coefficient of friction."""
    from pxr import UsdGeom, UsdPhysics, UsdShade

    scope = UsdGeom.Scope.Define(stage, body.GetPath().AppendChild("materials"))
    path = scope.GetPath().AppendChild(f"friction{index}")
    material = UsdShade.Material.Define(stage, path)
    api = UsdPhysics.MaterialAPI.Apply(material.GetPrim())
    api.CreateStaticFrictionAttr(friction)
    api.CreateDynamicFrictionAttr(friction)
    api.CreateRestitutionAttr(0.0)
    return material


def _add_collider(stage: Any, body: Any, collider: _Collider, material: Any) -> None:
    """Add a box that collides, made of a material."""
    from pxr import Gf, UsdGeom, UsdPhysics, UsdShade

    cube = UsdGeom.Cube.Define(stage, body.GetPath().AppendChild(collider.name))
    cube.CreateSizeAttr(1.0)
    cube.CreateExtentAttr([Gf.Vec3f(-0.5), Gf.Vec3f(0.5)])
    cube.AddTranslateOp().Set(Gf.Vec3d(*collider.centre.tolist()))
    cube.AddScaleOp(UsdGeom.XformOp.PrecisionDouble).Set(Gf.Vec3d(*collider.sides.tolist()))
    UsdPhysics.CollisionAPI.Apply(cube.GetPrim())
    binding = UsdShade.MaterialBindingAPI.Apply(cube.GetPrim())
    binding.Bind(material, UsdShade.Tokens.weakerThanDescendants, "physics")
