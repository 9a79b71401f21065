"""A robot of your own is a world: ten lines. Run with: python examples/own_robot.py [log.csv]."""

import sys

import numpy as np

import pushwise as pw

HAMMER = pw.objects.load("hammer")


class FakeArm:
    """Stands in for your robot's driver and camera."""

    def __init__(self) -> None:
        """Put a hammer on an imaginary table."""
        self._table = pw.worlds.Ideal(HAMMER)

    def look(self) -> pw.worlds.Observation:
        """Return the cloud and the pose that the camera sees."""
        return self._table.observe()

    def move(self, times, positions) -> None:
        """Lower the finger, move it through positions, each at its time, and lift it."""
        self._table.push(pw.Push(times, positions))

    def wait_for_a_person(self) -> None:
        """Wait until the object is back at its place."""
        self._table.reset(0)


class MyRobot:
    """The ten lines: look, push, put back."""

    def __init__(self) -> None:
        self.arm = FakeArm()

    def observe(self):  # noqa: D102
        return self.arm.look()

    def push(self, push):  # noqa: D102
        before = self.observe().pose
        self.arm.move(push.times, push.positions)  # through these points, each at its time
        poses = np.unwrap([before, self.observe().pose], axis=0)  # theta is continuous past pi
        return pw.PushRecord(push, [0.0, push.duration], poses)

    def reset(self, seed):  # noqa: D102
        self.arm.wait_for_a_person()


if __name__ == "__main__":
    path = sys.argv[1] if len(sys.argv) > 1 else "log.csv"
    log = pw.record(MyRobot(), path, grid=HAMMER.grid, pushes=3, seed=1)
    for record in log:
        x, y, theta = record.pose[-1] - record.pose[0]
        sys.stdout.write(f"moved by {x:.3f} m, {y:.3f} m, turned by {theta:.3f} rad\n")
