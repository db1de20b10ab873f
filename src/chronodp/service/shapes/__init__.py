"""The shapes of answers, as the description of the API shows them; one file a subject."""

from chronodp.service.shapes.asking import JobShape as JobShape, PlanShape as PlanShape, QuoteShape as QuoteShape
from chronodp.service.shapes.budgets import BudgetShape as BudgetShape, EntryShape as EntryShape
from chronodp.service.shapes.certificates import (
    CertificateShape as CertificateShape,
    ChainShape as ChainShape,
    ClaimShape as ClaimShape,
    KeyShape as KeyShape,
    VerifiedShape as VerifiedShape,
)
from chronodp.service.shapes.curator import (
    HealthShape as HealthShape,
    HoldShape as HoldShape,
    MeShape as MeShape,
    SessionShape as SessionShape,
)
from chronodp.service.shapes.datasets import (
    ColumnShape as ColumnShape,
    DatasetShape as DatasetShape,
    DiscoverShape as DiscoverShape,
)
from chronodp.service.shapes.problems import Fact as Fact, Problem as Problem, Refusal as Refusal
from chronodp.service.shapes.releases import (
    LevelShape as LevelShape,
    PartShape as PartShape,
    ReleaseLine as ReleaseLine,
    ReleaseShape as ReleaseShape,
    TableShape as TableShape,
    TryShape as TryShape,
)
from chronodp.service.shapes.streams import GapShape as GapShape, StreamShape as StreamShape

__all__: list[str] = []
