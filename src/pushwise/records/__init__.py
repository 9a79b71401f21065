"""What happened: records of pushes, and logs of them in files."""

from pushwise.records.log import PushLog
from pushwise.records.record import Noise, PushRecord

__all__ = ["Noise", "PushLog", "PushRecord"]
