"""Guessing a secret bit by the mean of all answers about it that can be had."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from tests.audit.attacks.attempt import Attempt

__all__ = ["guess_by_mean"]


def guess_by_mean(
    trials: int,
    ours: int | None,
    *,
    name: str,
    naive: str,
    scale: float,
    count: int,
    answers: Callable[[int], Sequence[float]],
) -> Attempt:
    """Guess secrets by the mean of ``count`` fresh draws of Laplace noise, and of the answers that chronodp gives."""
    secrets = np.random.default_rng().integers(0, 2, trials).tolist()
    tried = secrets[:ours]
    noise = np.random.default_rng().laplace(0.0, scale, (trials, count))
    return Attempt(
        name=name,
        naive=naive,
        epsilon=1.0,
        naive_guesses=trials,
        our_guesses=len(tried),
        naive_hits=sum(_guess(secret + row) == secret for secret, row in zip(secrets, noise, strict=True)),
        our_hits=sum(_guess(answers(secret)) == secret for secret in tried),
    )


def _guess(answers: Sequence[float]) -> int:
    return int(float(np.mean(answers)) > 0.5)
