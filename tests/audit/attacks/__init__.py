"""Attacks from end to end: each succeeds against a naive version and fails against chronodp."""

from collections.abc import Callable

from tests.audit.attacks import (
    averaging,
    differencing,
    floats,
    linkage,
    membership,
    reconstruction,
    rewinding,
)
from tests.audit.attacks.attempt import Attempt

__all__ = ["ATTACKS", "Attempt"]

# Each is called with a number of trials; a second one says how many of these are tried on chronodp too, else all.
ATTACKS: tuple[Callable[..., Attempt], ...] = (
    floats.attack,
    averaging.attack,
    rewinding.attack,
    differencing.attack,
    membership.attack,
    reconstruction.attack,
    linkage.attack,
)
