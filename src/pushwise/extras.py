"""`require`: import an optional package, or say in one sentence which extra installs it."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from pushwise.errors import PushwiseError

__all__ = ["require"]


def require(
    module: str, *, extra: str, purpose: str, package: str | None = None, note: str = ""
) -> Any:
    """Import an optional module.

    Call it inside the function that needs the module, so that everything else works without it.
    A plain import statement after the call gives mypy the module's types.

    Args:
        module: Name of the module, such as "h5py" or "joblib.externals.loky".
        extra: The extra of Pushwise that installs it, such as "recordings".
        purpose: What needs it, as the subject of a sentence: "reading ROS bags".
        package: Name of the distribution; the first part of the module's name by default.
        note: A restriction worth knowing, added in brackets, such as "Python 3.11 only".

    Returns:
        The module.

    Raises:
        PushwiseError: The package is not installed. Errors inside an installed package, such as
            a missing dependency of its own, are passed on unchanged.

    """
    top = module.split(".")[0]
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or error.name.split(".")[0] != top:
            raise
    bracket = f" ({note})" if note else ""
    raise PushwiseError(
        f"{purpose} needs the package {package or top}; "
        f"install it with: pip install 'pushwise[{extra}]'{bracket}"
    )
