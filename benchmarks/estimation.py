"""Filters and spectra of a million steps: seconds, beside the plain loop and the transform that have no privacy."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.harness import Topic, show
from chronodp.privacy import Event
from chronodp.randomness import secure
from chronodp.spectrum import Lowest, OnlyHarmonics, Wanted, WholeSpectrum, design_spectrum, transform
from chronodp.spectrum.spectrum import draw_spectrum, exact_of
from chronodp.state_space import StateSpace, filter_states, smooth_states, solve_steady

STEPS = 1_000_000
LOOP = 20_000


def measure() -> Topic:
    topic = Topic(
        "States and spectra of a million steps on one core, without the ledger",
        "python -m benchmarks.estimation",
        ("what", "seconds", "baseline", "baseline seconds", "ratio"),
    )
    model, values = _system()
    plain = _best(lambda: _loop(model, values[:LOOP])) * STEPS / LOOP
    for name, work in (
        ("filter, 4 states, settled", lambda: filter_states(model, values, added=1.0)),
        ("smoother, 4 states, settled", lambda: smooth_states(model, values, added=1.0)),
    ):
        seconds = _best(work)
        topic.rows.append((name, seconds, "numpy loop", plain, plain / seconds))
    series = np.random.default_rng(2).uniform(size=STEPS)
    bare = _best(lambda: np.fft.rfft(series))
    for wanted in (WholeSpectrum(), OnlyHarmonics(24), Lowest(8), Lowest(50)):
        seconds = _best(lambda wanted=wanted: _spectrum(wanted, series))  # type: ignore[misc]  # bound at once
        topic.rows.append((str(wanted), seconds, "numpy rfft", bare, bare / seconds))
    topic.notes = [
        "seconds are of the processor; the best of three",
        f"the loop is measured over {LOOP:,} steps; it filters with the same gain",
        "spectra: design, exact sums, noise, and for the whole spectrum the transform of what was released",
        "numpy's transform of the same series is neither private nor exact",
    ]
    return topic


def _system() -> tuple[StateSpace, np.ndarray]:
    generator = np.random.default_rng(1)
    onward = np.diag([0.99, 0.9, 0.8, 0.95]) + 0.01
    model = StateSpace(onward, np.eye(4)[:2], np.eye(4) * 0.1, np.eye(2))
    return model, generator.normal(size=(STEPS, 2))


def _loop(model: StateSpace, values: np.ndarray) -> np.ndarray:
    onward, observation, _, _ = model.matrices
    gain = solve_steady(model, added=1.0).gain
    link, state, found = (np.eye(4) - gain @ observation) @ onward, np.zeros(4), np.empty((len(values), 4))
    for step, value in enumerate(values):
        state = link @ state + gain @ value
        found[step] = state
    return found


def _spectrum(wanted: Wanted, series: np.ndarray) -> object:
    design = design_spectrum(wanted, horizon=len(series), change=1.0, unit=Event(), epsilon=1.0, delta=1e-6)
    _, noisy = draw_spectrum(design, exact_of(design, series, progress=lambda _: None), secure())
    return transform(np.array(noisy) * design.noise.step) if isinstance(wanted, WholeSpectrum) else noisy


def _best(work: Callable[[], object], rounds: int = 3) -> float:
    work()
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


if __name__ == "__main__":
    show(measure)
