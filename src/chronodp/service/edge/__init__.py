"""The edge: what a connection passes before its request is looked at, and which ones give way when there is no room.

Nothing here knows of datasets. What is promised stands in section 9 of ``docs/explanation/proofs/curator.md``.
"""

from typing import TYPE_CHECKING

from chronodp.extras import late
from chronodp.service.edge.files import allow_files
from chronodp.service.edge.origins import Proxies, origin_of
from chronodp.service.edge.settings import EDGE, EdgeLimits
from chronodp.service.edge.strangers import Strangers

if TYPE_CHECKING:
    from chronodp.service.edge.server import EdgeServer

__all__ = ["EDGE", "EdgeLimits", "EdgeServer", "Proxies", "Strangers", "allow_files", "origin_of"]

if not TYPE_CHECKING:  # a policy can be read where uvicorn is not installed
    __getattr__ = late(__name__, {"EdgeServer": "server"})
