"""Tries to refute every claim: exact, numerical and statistical auditors, attacks, and broken twins to be caught."""

from chronodp.audit import attacks, exact, twins
from chronodp.audit.adaptive import Game as Game
from chronodp.audit.allowance import Allowance
from chronodp.audit.judging import Verdict, judge, judge_all
from chronodp.audit.numerical import Linear as Linear
from chronodp.audit.page import report_audit as report_audit
from chronodp.audit.registry import Entry, entries, find_subject as find_subject
from chronodp.audit.run import Audit as Audit, audit as audit, audit_subjects as audit_subjects
from chronodp.audit.statistical import Sampled
from chronodp.audit.subject import Check as Check, Subject
from chronodp.audit.walked import Enumerated

__all__ = [
    "Allowance",
    "Entry",
    "Enumerated",
    "Sampled",
    "Subject",
    "Verdict",
    "attacks",
    "entries",
    "exact",
    "judge",
    "judge_all",
    "twins",
]
