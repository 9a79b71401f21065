"""Records of pushes, logs of them in files, and the recordings they come from."""

from pushwise.records.log import PushLog
from pushwise.records.record import Noise, PushRecord

__all__ = ["Noise", "PushLog", "PushRecord"]
