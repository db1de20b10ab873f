"""The mechanisms a plan can be made of: closed families for values of an alphabet and for numbers."""

from __future__ import annotations

from typing import TypeAlias

from chronodp.local.hashing import LocalHashing
from chronodp.local.numbers import Hybrid, LaplaceNumber, OneBit, Piecewise
from chronodp.local.response import RandomizedResponse
from chronodp.local.unary import OptimizedUnary, SymmetricUnary

__all__ = ["ChoiceMechanism", "LocalMechanism", "NumberMechanism"]

ChoiceMechanism: TypeAlias = RandomizedResponse | OptimizedUnary | SymmetricUnary | LocalHashing
NumberMechanism: TypeAlias = OneBit | Piecewise | Hybrid | LaplaceNumber
LocalMechanism: TypeAlias = ChoiceMechanism | NumberMechanism
