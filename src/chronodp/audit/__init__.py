"""Tries to refute every claim: exact, numerical and statistical auditors, attacks, and broken twins to be caught."""

from chronodp.audit import attacks, devices, exact, twins
from chronodp.audit.adaptive import Game
from chronodp.audit.allowance import Allowance
from chronodp.audit.judging import Verdict, judge, judge_all
from chronodp.audit.numerical import GridNoise, Linear, OnGrid
from chronodp.audit.registry import Entry, entries
from chronodp.audit.statistical import Sampled
from chronodp.audit.subject import Check, Reached, Subject, Unfit
from chronodp.audit.walked import Enumerated, Known

__all__ = [
    "Allowance",
    "Check",
    "Entry",
    "Enumerated",
    "Game",
    "GridNoise",
    "Known",
    "Linear",
    "OnGrid",
    "Reached",
    "Sampled",
    "Subject",
    "Unfit",
    "Verdict",
    "attacks",
    "devices",
    "entries",
    "exact",
    "judge",
    "judge_all",
    "twins",
]
