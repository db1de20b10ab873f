"""The curator: owners set a policy, analysts plan for nothing, submit and get releases; everyone sees the budget."""

from chronodp.service.client import Client, RemotePlan
from chronodp.service.policy import Policy
from chronodp.service.policy_file import read_policy

__all__ = ["Client", "Policy", "RemotePlan", "read_policy"]
