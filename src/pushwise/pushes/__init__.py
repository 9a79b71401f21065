"""What happened: records of pushes, and logs of them in files."""

from pushwise.pushes.log import PushLog
from pushwise.pushes.record import Noise, PushRecord

__all__ = ["Noise", "PushLog", "PushRecord"]
