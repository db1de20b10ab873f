"""Which keys are published: rules that decide by people counted, and know no engine and no file."""

from chronodp.selection.keys.rounds import Decided as Decided, Round as Round, Rounds as Rounds, Weigh as Weigh

__all__: list[str] = []
