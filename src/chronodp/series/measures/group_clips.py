"""A clip for each group: how large a person's total may be where groups are not alike.

"Clips by group" in ``docs/explanation/proofs/sensitivity.md``: the numbers of a group are counted in parts of its own
clip, so that one person moves all of them alike, and noise goes with the clip.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TypeAlias

from chronodp.engines import Grouping, Scaling
from chronodp.engines.reading import read_name
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_clip, decimal_value, document, settle

__all__ = ["Clip", "GroupClips", "check_widest", "clip_by_group", "clip_question", "clip_words"]

Clip: TypeAlias = tuple[float, float]

_MOST = 1000  # engines look clips up by halving, in their own text
_SHOWN = 12
_FARTHEST = 10**12
_ALLOWED = 'a pair (low, high), or one for each key, such as {"north": (0, 50), "south": (0, 400)}'


@document("group_clips")
@dataclass(frozen=True, slots=True)
class GroupClips:
    """The clip of each key of a column that splits the answer; all of them begin in the same proportion to their end.

    Attributes:
        keys: as cells that hold them are read.
        ends: the clip of each.
    """

    keys: tuple[str, ...]
    ends: tuple[Clip, ...]

    def __post_init__(self) -> None:
        if not all(isinstance(part, tuple) for part in (self.keys, self.ends)):
            raise InvalidArgument("clip", type(self.keys).__name__, "keys, and as many pairs, in tuples")
        if not 0 < len(self.keys) == len(self.ends) <= _MOST or len(set(self.keys)) < len(self.keys):
            raise InvalidArgument("clip", f"{len(self.keys):,} keys", f"one for each of 1 to {_MOST:,} different keys")
        settle(self, ends=tuple(check_clip(clip) for clip in self.ends))
        widest, sizes = self.widest, self._sizes
        largest = max(sizes)
        if largest > _FARTHEST * min(sizes):
            allowed = f"at most {_FARTHEST:,} times as wide for one key as for another"
            raise InvalidArgument("clip", str(self), allowed)
        for key, clip, size in zip(self.keys, self.ends, sizes, strict=True):
            # What lies below 0 of a unit's totals is part of what it can change: one proportion serves all groups.
            ends = zip(clip, widest, strict=True)
            if any(decimal_value(end) * largest != decimal_value(most) * size for end, most in ends):
                allowed = f"in one proportion for all keys, such as (0, most) for each; {_pair(widest)} is another's"
                raise InvalidArgument("clip", f"{_pair(clip)} for {key}", allowed)

    @property
    def widest(self) -> Clip:
        """The clip whose farther end is the farthest."""
        sizes = self._sizes
        return self.ends[sizes.index(max(sizes))]

    def scaling(self, groupings: Sequence[Grouping]) -> Scaling:
        """Return what part of the widest clip each key's own is; one column must have these keys and no others."""
        places = [place for place, grouping in enumerate(groupings) if set(grouping.keys) == set(self.keys)]
        if len(places) != 1:
            allowed = "for the keys of one column of by(...), for each of them and no others"
            raise InvalidArgument("clip", str(self), allowed if not places else f"{allowed}: several have these keys")
        largest = max(self._sizes)
        parts = {key: float(size / largest) for key, size in zip(self.keys, self._sizes, strict=True)}
        return Scaling(places[0], tuple(parts[key] for key in groupings[places[0]].keys))

    @property
    def _sizes(self) -> list[Fraction]:
        return [max(abs(decimal_value(end)) for end in clip) for clip in self.ends]

    def to_question(self) -> dict[str, list[float]]:
        """Return the clips as a curator is asked for them."""
        return {key: list(clip) for key, clip in zip(self.keys, self.ends, strict=True)}

    def __str__(self) -> str:
        said = [f"{_pair(clip)} ({key})" for key, clip in zip(self.keys, self.ends, strict=True)]
        return ", ".join(said) if len(said) <= _SHOWN else f"{', '.join(said[:_SHOWN])} and {len(said) - _SHOWN} more"


def clip_by_group(clip: object) -> tuple[Clip, GroupClips | None]:
    """Return a clip, and where one is given for each key, the widest with all of them.

    >>> widest, clips = clip_by_group({"north": (0, 50), "south": (0, 400)})
    >>> widest, str(clips)
    ((0.0, 400.0), '0 … 50 (north), 0 … 400 (south)')
    """
    if not isinstance(clip, Mapping):
        return clip, None  # type: ignore[return-value]  # a pair, or refused by the measure
    named = {key: read_name(key) for key in clip}  # as a cell that holds it is read
    for key, name in named.items():
        if name is None:
            raise InvalidArgument("clip", key, "keys as by(...) has them: texts that are not empty or whole numbers")
        if not isinstance(clip[key], tuple | list):
            # A number alone would not say whether totals below 0 count.
            raise InvalidArgument("clip", clip[key], _ALLOWED)
    clips = GroupClips(tuple(map(str, named.values())), tuple(tuple(ends) for ends in clip.values()))
    return clips.widest, clips


def check_widest(clip: Clip, clips: GroupClips | None) -> Clip:
    """Return the clip of a measure if it is the widest of those that groups have, where they have their own."""
    if clips is None:
        return clip
    if not isinstance(clips, GroupClips):
        raise InvalidArgument("clips", clips, "left out: sum(...) and mean(...) take a clip for each key as clip")
    if clip != clips.widest:
        raise InvalidArgument("clip", clip, f"{_pair(clips.widest)}, the widest of all groups")
    return clip


def clip_words(clip: Clip, clips: GroupClips | None) -> str:
    """Return a clip, or those of all groups, in words."""
    return _pair(clip) if clips is None else str(clips)


def clip_question(clip: Clip, clips: GroupClips | None) -> list[float] | dict[str, list[float]]:
    """Return a clip, or those of all groups, as a curator is asked for them."""
    return list(clip) if clips is None else clips.to_question()


def _pair(clip: Clip) -> str:
    return f"{clip[0]:g} … {clip[1]:g}"
