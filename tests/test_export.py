"""Exported models: what MuJoCo and PyBullet read is what the model says."""

import json
from pathlib import Path
from xml.etree import ElementTree

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import pushwise as pw
from command import pushwise
from pushwise.errors import PushwiseError
from pushwise.export.solid import boxes
from pushwise.physics.constants import GRAVITY

THIN = pw.ObjectModel(
    pw.CellGrid([(0.01 * i, 0.0) for i in range(7)], 0.01, np.full(7, 1e-4)),
    mass=np.linspace(0.01, 0.2, 7),
    friction=np.linspace(0.2, 0.4, 7),
)
"""A ruler one cell wide and a tenth of a millimetre thick."""
DOT = pw.ObjectModel(pw.CellGrid([(0.3, -0.2)], 0.02), mass=[0.1], friction=0.5)
MODELS = {
    "ruler": THIN,
    "dot": DOT,
    **{
        name: pw.objects.load(name).sample(np.random.default_rng(1)).model
        for name in pw.objects.names
    },
}


def test_hyphens_do_not_end_a_comment() -> None:
    """Write well-formed XML, however many follow one another."""
    for count in range(2, 7):
        text = pw.export.urdf(DOT, name=f"a{'-' * count}b")
        assert ElementTree.fromstring(text.partition("\n")[2]).tag == "robot"


def loaded(text: str) -> tuple[float, NDArray[np.float64], NDArray[np.float64]]:
    """Return mass, centre and inertia of the one body as MuJoCo reads it."""
    model = mujoco.MjModel.from_xml_string(text)
    assert model.nbody == 2
    turn = np.zeros(9)
    mujoco.mju_quat2Mat(turn, model.body_iquat[1])
    axes = turn.reshape(3, 3)
    return (
        float(model.body_mass[1]),
        model.body_ipos[1],
        axes @ np.diag(model.body_inertia[1]) @ axes.T,
    )


@pytest.mark.parametrize("name", MODELS)
def test_mujoco_reads_what_the_model_says(name: str) -> None:
    """Agree in mass, centre and inertia to 1e-9, for both formats that MuJoCo reads."""
    model = MODELS[name]
    solid = pw.export.Solid.of(model)
    texts = (pw.export.mjcf(model), pw.export.mjcf(model, lumped=True), pw.export.urdf(model))
    for text in texts:
        mass, centre, inertia = loaded(text)
        assert mass == pytest.approx(model.total_mass, rel=1e-9)
        np.testing.assert_allclose(centre[:2], model.centre_of_mass, rtol=0, atol=1e-9)
        np.testing.assert_allclose(centre, solid.centre, rtol=0, atol=1e-9)
        assert inertia[2, 2] == pytest.approx(model.inertia, rel=1e-9)
        scale = np.abs(solid.inertia).max()
        np.testing.assert_allclose(inertia, solid.inertia, rtol=0, atol=1e-9 * scale)


@pytest.mark.parametrize("name", MODELS)
def test_inertias_are_those_of_solid_bodies(name: str) -> None:
    """Be symmetric, positive definite, and fulfil the triangle inequality."""
    inertia = pw.export.Solid.of(MODELS[name]).inertia
    np.testing.assert_array_equal(inertia, inertia.T)
    a, b, c = np.linalg.eigvalsh(inertia)
    assert a > 0.0
    assert a + b > c


def test_the_inertia_of_a_box_is_the_textbooks() -> None:
    """Give m (b^2 + c^2) / 12 for a uniform block, however many cells it has."""
    grid = pw.CellGrid.from_outline([(0, 0), (0.2, 0), (0.2, 0.1), (0, 0.1)], cell_size=0.02)
    grid = pw.CellGrid(grid.centres, 0.02, np.full(50, 0.04))
    solid = pw.export.Solid.of(pw.ObjectModel(grid, mass=np.full(50, 0.06), friction=0.3))
    x, y, z = 0.2**2, 0.1**2, 0.04**2
    wanted = np.diag([y + z, x + z, x + y]) * 3.0 / 12.0
    np.testing.assert_allclose(solid.inertia, wanted, rtol=1e-12, atol=1e-15)
    np.testing.assert_allclose(solid.centre, [0.1, 0.05, 0.02])


def test_boxes_cover_the_cells() -> None:
    """Join cells of a row, but not across a gap nor a step in height."""
    for model in MODELS.values():
        found = boxes(model)
        area = sum(box.width * box.depth for box in found)
        assert area == pytest.approx(model.grid.area)
    assert len(boxes(THIN)) == 1
    steps = pw.CellGrid(THIN.grid.centres, 0.01, [0.01, 0.01, 0.03, 0.03, 0.03, 0.01, 0.01])
    assert len(boxes(pw.ObjectModel(steps, THIN.mass, THIN.friction))) == 3
    u = [(0.0, 0.0), (0.01, 0.0), (0.02, 0.0), (0.0, 0.01), (0.02, 0.01)]
    assert len(boxes(pw.ObjectModel(pw.CellGrid(u, 0.01), np.ones(5), 0.3))) == 3


@pytest.mark.parametrize("lumped", [False, True])
def test_it_rubs_in_mujoco_as_the_model_says(lumped: bool) -> None:
    """Brake a sliding cuboid by mu g on a plane that would rub more."""
    grid = pw.CellGrid.from_outline([(0, 0), (0.1, 0), (0.1, 0.1), (0, 0.1)], cell_size=0.05)
    text = pw.export.mjcf(pw.ObjectModel(grid, np.ones(4), 0.2), lumped=lumped)
    plane = '<worldbody><geom type="plane" size="5 5 1"/>'
    option = '<option cone="elliptic" impratio="100"/><worldbody>'
    model = mujoco.MjModel.from_xml_string(
        text.replace("<worldbody>", plane).replace("<worldbody>", option, 1)
    )
    data = mujoco.MjData(model)
    data.qvel[0] = 1.0
    while data.time < 0.3:
        mujoco.mj_step(model, data)
    assert data.qvel[0] == pytest.approx(1.0 - 0.2 * GRAVITY * data.time, abs=0.03)


def test_pybullet_reads_the_urdf(tmp_path: Path) -> None:
    """Agree in mass, centre, principal moments and friction."""
    bullet = pytest.importorskip("pybullet", reason="PyBullet is not installed")
    model = MODELS["hammer"]
    solid = pw.export.Solid.of(model)
    pw.export.write(model, tmp_path / "hammer.urdf")
    client = bullet.connect(bullet.DIRECT)
    body = bullet.loadURDF(
        str(tmp_path / "hammer.urdf"),
        flags=bullet.URDF_USE_INERTIA_FROM_FILE,
        physicsClientId=client,
    )
    mass, friction, moments, centre, *_ = bullet.getDynamicsInfo(body, -1, physicsClientId=client)
    bullet.disconnect(client)
    assert mass == pytest.approx(solid.mass, rel=1e-9)
    assert friction == pytest.approx(solid.friction, rel=1e-9)
    np.testing.assert_allclose(centre, solid.centre, atol=1e-9)
    np.testing.assert_allclose(sorted(moments), np.linalg.eigvalsh(solid.inertia), rtol=1e-6)


def test_sdf_has_the_numbers() -> None:
    """Write mass, centre and inertia of the link, and the friction of each cell."""
    model = MODELS["hammer"]
    solid = pw.export.Solid.of(model)
    link = ElementTree.fromstring(pw.export.sdf(model)).find("model/link")
    assert link is not None
    assert float(link.findtext("inertial/mass", "")) == solid.mass
    pose = [float(word) for word in link.findtext("inertial/pose", "").split()]
    assert pose == [*solid.centre.tolist(), 0.0, 0.0, 0.0]
    for i, row in enumerate("xyz"):
        for j, column in list(enumerate("xyz"))[i:]:
            text = link.findtext(f"inertial/inertia/i{row}{column}", "")
            assert float(text) == solid.inertia[i, j]
    friction = [float(e.text or "") for e in link.iterfind("collision/surface/friction/ode/mu")]
    assert friction == model.friction.tolist()


def test_the_command_writes_and_refuses(tmp_path: Path) -> None:
    """Choose the format by the suffix, keep what exists, and name mistakes in one line."""
    saved, out = tmp_path / "model.json", tmp_path / "object.xml"
    pw.save(pw.Belief(THIN, pw.Finger(), 1e-5 * np.eye(2), None, np.zeros(3)), saved)
    done = pushwise("export", saved, "-o", out)
    assert (done.code, done.err) == (0, "")
    assert "did not determine the total mass" in done.out
    assert loaded(out.read_text())[0] == pytest.approx(THIN.total_mass)
    done = pushwise("export", saved, "-o", out, "--lumped", "--json", "--force")
    facts = json.loads(done.out)
    assert facts["format"] == "MJCF"
    assert facts["mass_determined"] is False
    pw.save(THIN.grid, tmp_path / "grid.json")
    for words, said in (
        ((saved, "-o", out), "exists; add --force"),
        ((saved, "-o", tmp_path / "object.obj"), "must end in .xml (MJCF), .urdf (URDF)"),
        ((tmp_path / "grid.json", "-o", tmp_path / "a.xml"), "holds no model"),
    ):
        done = pushwise("export", *words)
        assert done.code == 1
        assert len(done.err.splitlines()) == 1
        assert said in done.err


def test_the_command_says_when_nothing_was_learned(tmp_path: Path) -> None:
    """Do not call an assumed mass determined."""
    saved, out = tmp_path / "model.json", tmp_path / "object.xml"
    pw.save(pw.Belief.assuming(THIN), saved)
    assert "nothing was learned" in pushwise("export", saved, "-o", out).out
    told = json.loads(pushwise("export", saved, "-o", out, "--json", "--force").out)
    assert told["mass_determined"] is False


def test_only_mjcf_is_lumped(tmp_path: Path) -> None:
    """Refuse to lump what has no cells, and a folder that is not there."""
    with pytest.raises(PushwiseError, match="only MJCF and USD can be lumped"):
        pw.export.write(THIN, tmp_path / "a.sdf", lumped=True)
    with pytest.raises(PushwiseError, match="cannot write"):
        pw.export.write(THIN, tmp_path / "none" / "a.sdf")
