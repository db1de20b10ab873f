"""What a user says in place of keys that nobody knows beforehand."""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_fraction, check_number, check_whole, document, settle

__all__ = ["Discover"]

_LARGEST_SHARE = 0.9
_LONGEST_TEXT = 65_536


@document("discover")
@dataclass(frozen=True, slots=True)
class Discover:
    """In place of public keys: find those that enough people hold, privately, with a part of the price.

    A key that one person alone holds is published with a probability below ``delta``. Which keys are found is published
    with the release, ``release.keys``, and they may serve as public keys from then on.

    Args:
        max_keys: for `User`, how many keys of one person count, over the whole series. Left out for other units, where
            ``max_groups`` says how many of a period do.
        delta: the probability that a key of one person alone is published; 0.4 of the plan's delta unless told. It must
            be told in a plan without a delta.
        share: the part of the price that finds keys; the rest is for their numbers. 0.5 finds about half as many
            keys again as 0.2, and the noise of their numbers is wider by a quarter. 0, for a count of people in one
            period: a key is published if its own published count reaches a threshold. That finds most where few keys
            of a person count.
        most: how many keys are published at most; those with the largest noisy weight are kept.
        longest: bytes of the longest key, as UTF-8; rows with a longer one are left out.

    >>> Discover(max_keys=10)
    Discover(max_keys=10, delta=None, share=0.2, most=5000, longest=256)
    """

    max_keys: int | None = None
    delta: float | None = None
    share: float = 0.2
    most: int = 5000
    longest: int = 256

    def __post_init__(self) -> None:
        if self.max_keys is not None:
            check_whole("max_keys", self.max_keys, most=10**6)
        if self.delta is not None:
            check_fraction("delta", self.delta)
        allowed = f"a part of the price, at most {_LARGEST_SHARE}; 0 where published counts are to decide"
        share = check_number("share", self.share, allowed)
        if not 0 <= share <= _LARGEST_SHARE:
            raise InvalidArgument("share", self.share, allowed)
        check_whole("most", self.most, most=10**7)
        check_whole("longest", self.longest, most=_LONGEST_TEXT)
        settle(self, share=share or 0.0)  # plans are told apart by their texts: 0, 0.0 and -0.0 are one
