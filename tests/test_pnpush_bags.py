"""The twelve bags of MIT's preliminary pushes, from the command line alone."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

import pushwise as pw
from command import pushwise

DATA = Path(__file__).parents[2] / "shared" / "data" / "pnpush_bags"
OBJECTS = {"Al": "MetalSquare", "Plastic": "SquareBlock", "St": "SteelBlock"}
BAGS = sorted(DATA.glob("*.bag"))

pytestmark = pytest.mark.skipif(not BAGS, reason=f"{DATA} is not there")


def convert(bag: Path, finger: str, log: Path) -> str:
    """Convert a bag with its topics and the table frame, and return what was said."""
    name = OBJECTS[bag.name.split("_")[0]]
    topics = ("--object", f"/vicon/{name}/{name}", "--finger", finger, "--wrench", "/netft_data")
    code, said, errors = pushwise("convert", bag, *topics, "--frame", "map", "-o", log)
    assert (code, errors) == (0, "")
    return said


@pytest.mark.parametrize("finger", ["/tf:link_probe", "/tip_pose"])
@pytest.mark.parametrize("bag", BAGS, ids=lambda bag: bag.stem)
def test_a_bag_is_one_record_as_recorded(bag: Path, finger: str, tmp_path: Path) -> None:
    """Write one record for each long push, whose fingers are those recorded at its own stamps."""
    log = tmp_path / "log.csv"
    said = convert(bag, finger, log)
    assert "\n1 push\n" in said
    assert "finger and object move together as stamped" in said
    (start,) = [push["start"] for push in pw.PushLog.load(log).provenance["findings"]["pushes"]]
    with log.open() as file:
        rows = [{name: float(text) for name, text in row.items()} for row in csv.DictReader(file)]
    names = ("t", "x", "y", "finger_x", "finger_y")
    t, *values = np.array([[row[name] for name in names] for row in rows]).T
    name = OBJECTS[bag.name.split("_")[0]]
    topics = pw.BagTopics(f"/vicon/{name}/{name}", finger, frame="map")
    (recording,) = pw.read_recordings(bag, topics)
    assert np.abs((t + start)[:, None] - recording.object.t).min(axis=1).max() < 1e-6
    at = recording.object.at(t + start)[:, :2], recording.finger.at(t + start)
    assert np.column_stack(values) == pytest.approx(np.column_stack(at), abs=1e-6)


def test_a_steel_block_is_identified_with_its_set_up(tmp_path: Path) -> None:
    """Learn from a bag with the outline of its mesh and report the set-up, the radius included."""
    log, grid, model = (tmp_path / name for name in ("log.csv", "grid.json", "model.json"))
    convert(next(bag for bag in BAGS if bag.name.startswith("St")), "/tf:link_probe", log)
    code, _, errors = pushwise("scan", DATA / "SteelBlock.stl", "-o", grid)
    assert (code, errors) == (0, "")
    code, said, _ = pushwise("identify", grid, log, "-o", model, "--json")
    assert code == 0
    setup = json.loads(said)["setup"]
    assert set(setup) == {"tip", "tool", "frame", "radius"}
    assert setup["radius"]["value"][0] == pytest.approx(0.00475, abs=0.001)
    assert "set-up in doubt" in " ".join(json.loads(said)["statements"])
    assert model.exists()


@pytest.mark.slow
def test_a_steel_block_is_predicted_from_two_bags(tmp_path: Path) -> None:
    """Learn from pushes on two faces, and predict two others better than a uniform load does."""
    logs = [tmp_path / f"{number}.csv" for number in (1, 3, 2, 4)]
    for log in logs:
        convert(DATA / f"St_block__Test_st_{log.stem}.bag", "/tf:link_probe", log)
    code, _, errors = pushwise("scan", DATA / "SteelBlock.stl", "-o", tmp_path / "grid.json")
    assert (code, errors) == (0, "")
    given = (tmp_path / "grid.json", *logs, "-o", tmp_path / "model.json", "--holdout", 0.5)
    code, said, _ = pushwise("identify", *given, "--json")
    assert code == 0
    held = json.loads(said)["holdout"]
    short, long = held["pieces"]
    assert (short["length"], long["length"]) == (0.01, 0.05)
    assert short["position"] < 0.45e-3 and np.degrees(short["angle"]) < 0.4
    assert long["position"] < 0.85 * long["uniform_position"]
    assert long["angle"] < 0.85 * long["uniform_angle"]
    assert held["error"] < held["uniform_error"]
