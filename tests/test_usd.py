"""USD files: valid by usd-core's own checks, and with the mass properties of the model."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import pushwise as pw
from command import pushwise

MODELS = {
    "dot": pw.ObjectModel(pw.CellGrid([(0.3, -0.2)], 0.02), mass=[0.1], friction=0.5),
    **{
        name: pw.objects.load(name).sample(np.random.default_rng(1)).model
        for name in ("hammer", "crimp")
    },
}


@pytest.fixture
def pxr() -> Any:
    """Return the package of USD."""
    pytest.importorskip("pxr", reason="usd-core is not installed (extra 'usd')")
    import pxr.Usd
    import pxr.UsdGeom
    import pxr.UsdPhysics
    import pxr.UsdShade

    return pxr


def opened(pxr: Any, text: str) -> Any:
    """Return a stage with the text of a USD file."""
    stage = pxr.Usd.Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString(text)
    return stage


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("lumped", [False, True])
def test_files_pass_the_checks_of_usd(pxr: Any, name: str, lumped: bool, tmp_path: Path) -> None:
    """Break no rule of any validator that comes with usd-core."""
    validation = pytest.importorskip("pxr.UsdValidation", reason="this usd-core has no validators")
    path = tmp_path / "object.usda"
    pw.export.write(MODELS[name], path, lumped=lumped)
    registry = validation.ValidationRegistry()
    validators = [
        registry.GetOrLoadValidatorByName(known.name)
        for known in registry.GetAllValidatorMetadata()
        if not known.isSuite
    ]
    assert len(validators) > 10
    errors = validation.ValidationContext(validators).Validate(pxr.Usd.Stage.Open(str(path)))
    assert [error.GetMessage() for error in errors] == []


def test_the_checks_find_a_mistake(pxr: Any) -> None:
    """Report a rigid body that has no place, so that the test above can fail."""
    validation = pytest.importorskip("pxr.UsdValidation", reason="this usd-core has no validators")
    stage = opened(pxr, pw.export.usd(MODELS["dot"]))
    pxr.UsdPhysics.RigidBodyAPI.Apply(stage.GetPrimAtPath("/object/materials"))
    registry = validation.ValidationRegistry()
    checker = registry.GetOrLoadValidatorByName("usdPhysicsValidators:RigidBodyChecker")
    assert validation.ValidationContext([checker]).Validate(stage)


@pytest.mark.parametrize("name", MODELS)
def test_mass_properties_read_back(pxr: Any, name: str) -> None:
    """Agree to 1e-9 in the custom data, and to single precision where UsdPhysics has no more."""
    solid = pw.export.Solid.of(MODELS[name])
    stage = opened(pxr, pw.export.usd(MODELS[name], name="my object"))
    body = stage.GetDefaultPrim()
    assert body.GetName() == "my_object"
    api = pxr.UsdPhysics.MassAPI(body)
    schema = {
        "mass": api.GetMassAttr().Get(),
        "centerOfMass": api.GetCenterOfMassAttr().Get(),
        "diagonalInertia": api.GetDiagonalInertiaAttr().Get(),
        "principalAxes": api.GetPrincipalAxesAttr().Get(),
    }
    exact = {key: body.GetCustomDataByKey(f"pushwise:{key}") for key in schema}
    for found, tolerance in ((schema, 3e-7), (exact, 1e-9)):
        axes = found["principalAxes"]
        turn = Rotation.from_quat([*axes.GetImaginary(), axes.GetReal()]).as_matrix()
        inertia = turn @ np.diag(found["diagonalInertia"]) @ turn.T
        size = np.abs(solid.inertia).max()
        assert found["mass"] == pytest.approx(solid.mass, rel=tolerance)
        np.testing.assert_allclose(found["centerOfMass"], solid.centre, atol=tolerance)
        np.testing.assert_allclose(inertia / size, solid.inertia / size, atol=tolerance)


def test_colliders_have_shape_and_friction_of_the_cells(pxr: Any) -> None:
    """Find each cell where it is, with its own static and dynamic friction."""
    model = MODELS["hammer"]
    stage = opened(pxr, pw.export.usd(model))
    cache = pxr.UsdGeom.BBoxCache(pxr.Usd.TimeCode.Default(), ["default"])
    for i, (x, y) in enumerate(model.grid.centres.tolist()):
        prim = stage.GetPrimAtPath(f"/object/cell{i}")
        assert prim.HasAPI(pxr.UsdPhysics.CollisionAPI)
        span = cache.ComputeWorldBound(prim).ComputeAlignedRange()
        half, height = 0.5 * model.grid.cell_size, float(model.grid.heights[i])
        np.testing.assert_allclose(span.GetMin(), [x - half, y - half, 0.0], atol=1e-7)
        np.testing.assert_allclose(span.GetMax(), [x + half, y + half, height], atol=1e-7)
        material, _ = pxr.UsdShade.MaterialBindingAPI(prim).ComputeBoundMaterial("physics")
        api = pxr.UsdPhysics.MaterialAPI(material.GetPrim())
        for coefficient in (api.GetStaticFrictionAttr(), api.GetDynamicFrictionAttr()):
            assert coefficient.Get() == pytest.approx(model.friction[i], rel=1e-6)


def test_the_command_writes_usd(pxr: Any, tmp_path: Path) -> None:
    """Export a model file by the name of the output."""
    pw.save(MODELS["crimp"], tmp_path / "model.json")
    path = tmp_path / "object.usda"
    said = pushwise("export", tmp_path / "model.json", "-o", path, "--json")
    assert json.loads(said.out)["format"] == "USD"
    assert pxr.Usd.Stage.Open(str(path)).GetDefaultPrim().GetName() == "object"


def test_without_usd_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Say in one sentence what to install."""
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(pw.PushwiseError, match=r"usd-core; install .* 'pushwise\[usd\]'"):
        pw.export.usd(MODELS["dot"])
