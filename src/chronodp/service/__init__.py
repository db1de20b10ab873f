"""The curator: owners set a policy, analysts plan for nothing, submit and get releases; everyone sees the budget."""

from typing import TYPE_CHECKING

from chronodp.extras import late
from chronodp.service.client import Client
from chronodp.service.policy import Policy
from chronodp.service.policy_file import read_policy
from chronodp.service.policy_keys import POLICY as POLICY
from chronodp.service.policy_words import policy_words as policy_words
from chronodp.service.remote import RemotePlan as RemotePlan
from chronodp.service.sources import source_warnings as source_warnings

if TYPE_CHECKING:
    from chronodp.service.curator import Caller as Caller, Curator as Curator
    from chronodp.service.holds import (
        Hold as Hold,
        lift_hold as lift_hold,
        list_holds as list_holds,
        place_hold as place_hold,
    )
    from chronodp.service.pacing import Unpaced as Unpaced
    from chronodp.service.question import QueryRequest as QueryRequest
    from chronodp.service.runner import Runner as Runner
    from chronodp.service.serving import Settings as Settings, serve as serve
    from chronodp.service.tables import open_tables as open_tables
    from chronodp.service.tokens import (
        Role as Role,
        Token as Token,
        add_token as add_token,
        list_tokens as list_tokens,
        revoke_token as revoke_token,
    )

__all__ = ["Client", "Policy", "read_policy"]

if not TYPE_CHECKING:  # what serves and what trains needs libraries that not everyone has
    __getattr__ = late(
        __name__,
        {
            "Caller": "curator",
            "Curator": "curator",
            "Hold": "holds",
            "QueryRequest": "question",
            "Role": "tokens",
            "Runner": "runner",
            "Settings": "serving",
            "Token": "tokens",
            "Unpaced": "pacing",
            "add_token": "tokens",
            "lift_hold": "holds",
            "list_holds": "holds",
            "list_tokens": "tokens",
            "open_tables": "tables",
            "place_hold": "holds",
            "revoke_token": "tokens",
            "serve": "serving",
        },
    )
