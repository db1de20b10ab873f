"""What the policy allows, in words, and what another one would."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from chronodp.errors import ChronodpError
from chronodp.service import shapes
from chronodp.service.access import Inspector, Owner, curator_of
from chronodp.service.documented import refusals_for
from chronodp.service.policy import Dataset
from chronodp.service.policy_file import parse_policy
from chronodp.service.policy_words import policy_words
from chronodp.service.refusals import describe
from chronodp.service.shapes.desk import CheckedPolicyShape, PolicyShape

__all__ = ["PolicyText", "router"]

router = APIRouter()

_LONGEST = 2**18
_LINE = re.compile(r"\bline (\d+)\b")


class PolicyText(BaseModel):
    """A policy to be checked."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(min_length=1, max_length=_LONGEST, description="A policy as TOML, as it would stand in its file.")


@router.get("/policy", tags=["desk"], summary="Read the policy in words", responses=refusals_for(404))
def get_policy(
    request: Request,
    caller: Inspector,
    dataset: Annotated[str | None, Query(max_length=200, description="Of one dataset alone.")] = None,
) -> list[PolicyShape]:
    """For owners and auditors: what may be asked of each dataset, and what it costs at most."""
    curator = curator_of(request)
    asked = curator.datasets(caller) if dataset is None else [curator.dataset(caller, dataset)]
    return [_shown(one) for one in asked]


@router.post("/policy/check", tags=["desk"], summary="Check a policy", responses=refusals_for(400, 413, 415))
def check_policy(request: Request, caller: Owner, given: PolicyText) -> CheckedPolicyShape:  # noqa: ARG001
    """For owners: what a policy would allow, or what is wrong in which line.

    Only the text is looked at: whether the files that it names are there is not, so that nobody can ask about files of
    the machine. Nothing is kept or changed.
    """
    try:
        policy = parse_policy(given.text, folder=Path())
    except ChronodpError as error:
        problem = shapes.Problem(**describe(error)[1]["error"])
        found = _LINE.search(problem.message)
        line = None if found is None else int(found[1])
        return CheckedPolicyShape(problem=problem, line=line, warnings=[], datasets=[])
    datasets = [_shown(one) for one in policy.datasets.values()]
    return CheckedPolicyShape(problem=None, line=None, warnings=list(policy.warnings), datasets=datasets)


def _shown(dataset: Dataset) -> PolicyShape:
    return PolicyShape(dataset=dataset.name, about=dataset.about, words=policy_words(dataset))
