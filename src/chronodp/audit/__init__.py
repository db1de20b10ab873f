"""Tries to refute a claim: exact, numerical and statistical auditors, for a mechanism of anyone's."""

from chronodp.audit import attacks, exact
from chronodp.audit.adaptive import Game as Game
from chronodp.audit.allowance import Allowance
from chronodp.audit.case import AuditCase, Check as Check
from chronodp.audit.judging import Verdict as Verdict, judge, judge_all as judge_all
from chronodp.audit.numerical import Linear as Linear
from chronodp.audit.page import report_audit as report_audit
from chronodp.audit.run import Audit as Audit, audit_cases as audit_cases, find_case as find_case
from chronodp.audit.statistical import Sampled
from chronodp.audit.walked import Enumerated

__all__ = ["Allowance", "AuditCase", "Enumerated", "Sampled", "attacks", "exact", "judge"]
