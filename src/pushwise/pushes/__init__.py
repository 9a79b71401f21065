"""What happened: records of pushes."""

from pushwise.pushes.record import PushRecord

__all__ = ["PushRecord"]
