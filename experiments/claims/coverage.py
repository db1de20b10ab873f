"""Which computation decides which verdict: each is broken in turn, and the claims whose verdict changes are listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from experiments.claims.claim import Claim, Finding
from experiments.claims.computations import broken, computations

__all__ = ["Killed", "coverage_page", "killed_by"]

Killed = Mapping[str, Mapping[str, Sequence[str]]]

_HEAD = """# Which computation decides which verdict

Made by `make figures`. Each computation is replaced by broken twins in turn (its result ten
times too large, its root, its inverse, …), and everything that rests on it is computed anew. The claims named are those
whose verdict changes under some twin; a computation that no claim notices would decide nothing. For claims that no
reading supports a twin seldom lands on what is stated: there the test is that the stated value itself would turn the
verdict. Claims that take long to compute are left out here.

| computation | used by | twins | turns the verdict of |
| --- | --- | --- | --- |
"""


def killed_by(findings: Sequence[Finding], step: Callable[[str], None] = lambda _: None) -> Killed:
    """Return, by computation and twin, the ids of the claims whose verdict a twin changes."""
    found: dict[str, dict[str, list[str]]] = {}
    for name, twins in computations().items():
        users = [finding for finding in findings if name in finding.computations]
        if not users:
            continue
        step(name)
        found[name] = {}
        for twin_name, twin in twins.items():
            with broken(name, twin):
                found[name][twin_name] = [one.claim.id for one in users if _verdict(one.claim) != one.verdict]
    return found


def _verdict(claim: Claim) -> str:
    try:
        return claim.find().verdict
    except (ArithmeticError, ValueError, TypeError, IndexError, LookupError) as error:
        return f"could not be computed: {type(error).__name__}"


def coverage_page(findings: Sequence[Finding], killed: Killed) -> str:
    """Return the table of computations and the verdicts that they decide."""
    lines = []
    for name, twins in sorted(killed.items()):
        users = [finding.claim.id for finding in findings if name in finding.computations]
        turned = _in_order(one for ids in twins.values() for one in ids)
        lines.append(f"| `{name}` | {', '.join(users)} | {len(twins)} | {', '.join(turned) or '–'} |")
    return _HEAD + "\n".join(lines) + "\n"


def _in_order(ids: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(ids))
