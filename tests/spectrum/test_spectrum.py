"""Spectra: exact transforms, sensitivities by brute force, golden errors, laws, storage and what is refused."""

from __future__ import annotations

import functools
import itertools
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.conftest import SCALE, Trials

import chronodp as cdp
from chronodp.accounting import basic, gaussian
from chronodp.audit.exact import examine
from chronodp.errors import InvalidArgument, MissingBound, RequestConflict
from chronodp.ledger import verify
from chronodp.privacy import Grid, dump, load
from chronodp.privacy.touched import Touched
from chronodp.randomness import Entropy, seeded
from chronodp.series.noise import Noise
from chronodp.spectrum import (
    Lowest,
    OnlyHarmonics,
    Spectrum,
    SpectrumRelease,
    Strongest,
    Wanted,
    WholeSpectrum,
    compare_lowest,
    design_spectrum,
    spectral_sensitivity,
    transform,
)
from chronodp.spectrum.choosing import strengths
from chronodp.spectrum.exact_transform import DIGITS, exact_numbers
from chronodp.spectrum.harmonics import count_numbers, highest, numbers_of, to_series
from chronodp.spectrum.spectrum import draw_spectrum, exact_of

FALSE_ALARM = 1e-9
Floats = NDArray[np.float64]


def quiet(_: float) -> None:
    """Tell nobody how far it is."""


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("load", unit=cdp.Event(), epsilon=8.0, delta=1e-3)
        yield opened


def test_numbers_are_coordinates_in_an_orthonormal_basis(subtests: pytest.Subtests) -> None:
    for horizon in [1, 2, 3, 7, 8, 24, 25, 1000]:
        with subtests.test(horizon=horizon):
            series = np.random.default_rng(horizon).normal(size=horizon)
            every = tuple(range(highest(horizon) + 1))
            numbers = numbers_of(transform(series), every, horizon)
            assert len(numbers) == horizon == count_numbers(every, horizon)
            assert 2 / horizon * float(numbers @ numbers) == pytest.approx(float(series @ series))
            np.testing.assert_allclose(to_series(transform(series), every, horizon), series, atol=1e-12)


def test_exact_numbers_are_what_they_stand_for(subtests: pytest.Subtests) -> None:
    for horizon in [1, 2, 5, 8, 24, 4099]:
        with subtests.test(horizon=horizon):
            generator = np.random.default_rng(horizon)
            steps = generator.integers(-(2**52), 2**52 + 1, size=horizon)
            harmonics = tuple(sorted({0, 1 % (highest(horizon) + 1), highest(horizon), highest(horizon) // 2}))
            found = exact_numbers(steps, harmonics)
            near = numbers_of(transform(steps.astype(float))[list(harmonics)], harmonics, horizon) * 2.0**DIGITS
            size = float(np.abs(steps).astype(float).sum())
            np.testing.assert_allclose(
                np.array(found, dtype=float), near, atol=2 * size
            )  # each cosine is off by at most 1
            # Whole numbers add up without any rounding.
            other = generator.integers(-(2**50), 2**50, size=horizon)
            both = exact_numbers(np.clip(steps // 2, -(2**51), 2**51) + other, harmonics)
            parts = zip(exact_numbers(steps // 2, harmonics), exact_numbers(other, harmonics), strict=True)
            assert both == [one + two for one, two in parts]
    steps = np.array([2**52, -(2**52), 3, 7, 2**51 + 1])
    cosine = [round(math.cos(2 * math.pi * place / 5) * 2**DIGITS) for place in range(5)]
    assert exact_numbers(steps, (2,))[0] == sum(int(step) * cosine[2 * place % 5] for place, step in enumerate(steps))
    assert exact_numbers(steps, (0,)) == [sum(steps.tolist()) * round(2**DIGITS / math.sqrt(2))]


def worst_change(harmonics: tuple[int, ...], horizon: int, touched: Touched) -> tuple[float, float]:
    """The largest l1 and l2 change of these numbers over all changes of ±1 (or 0) in the touched periods."""
    count = touched.periods
    places = (
        [tuple(range(first, first + count)) for first in range(horizon - count + 1)]
        if touched.together
        else list(itertools.combinations(range(horizon), count))
    )
    changes = np.zeros((len(places) * 3**count, horizon))
    for row, (where, signs) in enumerate(itertools.product(places, itertools.product((-1, 0, 1), repeat=count))):
        changes[row, list(where)] = signs
    # Numbers are linear in the series: those of single periods tell those of all changes.
    single = np.array([numbers_of(transform(unit)[list(harmonics)], harmonics, horizon) for unit in np.eye(horizon)])
    numbers = changes @ single
    return float(np.abs(numbers).sum(axis=1).max()), float(np.linalg.norm(numbers, axis=1).max())


def test_no_change_goes_beyond_the_sensitivity(subtests: pytest.Subtests) -> None:
    for touched in [Touched(1, True), Touched(2, False), Touched(3, True), Touched(4, True)]:
        for horizon in [8, 9]:
            for harmonics in [(0,), (1,), (3,), (0, 1), (0, 1, 2), (0, 2), (0, 1, 2, 3), (4,), (0, 1, 2, 3, 4)]:
                with subtests.test(harmonics=harmonics, horizon=horizon, touched=touched):
                    stated = spectral_sensitivity(harmonics, horizon, touched)
                    l1, l2 = worst_change(harmonics, horizon, touched)
                    assert l1 <= stated.l1
                    assert l2 <= stated.l2
                    if touched.periods == 1 or harmonics == (0,):
                        assert l2 == pytest.approx(stated.l2, rel=1e-8)  # attained
    for harmonics in [(0,), (1,), (0, 1, 2), tuple(range(4))]:
        stated = spectral_sensitivity(harmonics, 6, Touched(6, together=False))
        l1, l2 = worst_change(harmonics, 6, Touched(6, together=False))
        assert l1 <= stated.l1
        assert l2 <= stated.l2 <= 1.3 * l2


def test_golden_sensitivities(golden: Any) -> None:
    known = golden("applications/dft.json")
    one = Touched(1, together=True)
    assert spectral_sensitivity((5,), 24, one).l2 == pytest.approx(known["sensitivity"]["single_coef_l2"], rel=1e-8)
    for row in known["fpa_gaussian_event"]["rows"]:
        found = spectral_sensitivity(tuple(range(row["K"])), 168, one)
        assert found.l2 * math.sqrt(2 / 168) == pytest.approx(row["l2_sens_event"], rel=1e-8)
    for harmonic, exact in known["sensitivity"]["user_level_single_coef_exact"].items():
        numbers = spectral_sensitivity((int(harmonic),), 24, Touched(24, together=False)).l2
        size = numbers * (math.sqrt(2) if harmonic == "0" else 1.0)
        assert exact <= size <= 1.12 * exact


def test_golden_analytic_gaussian_noise(golden: Any, subtests: pytest.Subtests) -> None:
    for delta in [1e-5, 1e-6]:
        for epsilon in [0.1, 0.5, 1.0, 2.0, 5.0]:
            with subtests.test(epsilon=epsilon, delta=delta):
                sigma = golden("applications/dft.json")["analytic_gaussian_sigma_Delta1"][
                    f"eps={epsilon},delta={delta:.0e}"
                ]
                assert gaussian.sigma(epsilon, delta) == pytest.approx(sigma, rel=1e-9)
                design = design_spectrum(
                    Lowest(40), horizon=168, change=1.0, unit=cdp.Event(), epsilon=epsilon, delta=delta
                )
                assert design.noise.law == "gaussian"
                assert design.noise.scale == pytest.approx(sigma * math.sqrt(79 / 2), rel=1e-4)


def test_golden_errors_by_count(golden: Any) -> None:
    known = golden("applications/dft.json")["fpa_gaussian_event"]
    times = np.arange(168)
    wave = 0.5 + 0.25 * np.sin(2 * np.pi * times / 24) + 0.1 * np.sin(2 * np.pi * times / 12 + 1)
    example = np.clip(wave + 0.05 * np.sin(2 * np.pi * times / 168), 0, 1)
    table = compare_lowest(example, change=1.0, unit=cdp.Event(), epsilon=1.0, delta=1e-5).set_index("count")
    for row in known["rows"]:
        found = table.loc[row["K"]]
        assert found["rmse_left_out"] ** 2 == pytest.approx(row["trunc_mse"], abs=1e-9)
        if found["noise"] == "gaussian":
            assert found["rmse_noise"] ** 2 == pytest.approx(row["noise_mse"], rel=1e-3)
        else:  # which has less error than the reference
            assert found["rmse_noise"] ** 2 < row["noise_mse"]


WANTED: list[Wanted] = [
    OnlyHarmonics(3),
    OnlyHarmonics(0),
    OnlyHarmonics(12),
    Lowest(4),
    Lowest(13),
    WholeSpectrum(),
    Strongest(2, 12),
]


@pytest.mark.parametrize("wanted", WANTED, ids=str)
@pytest.mark.parametrize("delta", [0.0, 1e-4])
def test_release_store_load_and_verify(wanted: Wanted, delta: float, ledger: cdp.Ledger, tmp_path: Path) -> None:
    series = 100 + 40 * np.sin(2 * np.pi * np.arange(24) / 8) + np.random.default_rng(1).normal(size=24)
    spectrum = Spectrum(series, change=0.001, unit=cdp.Event())
    plan = spectrum.plan(wanted, epsilon=1.0, delta=delta)
    made = plan.release(ledger, dataset="load", request="may", progress=quiet)
    again = plan.release(ledger, dataset="load", request="may", progress=quiet)
    assert made.text == again.text
    exact = transform(series)[list(made.harmonics)]
    assert np.abs(made.coefficients - exact).max() < 40 * plan.design.deviation
    table, power = made.to_pandas(level=1 - 1e-12), np.abs(exact) ** 2 / 24
    assert ((table["lower"] <= power + 1e-6) & (power <= table["upper"] + 1e-6)).all()
    if isinstance(wanted, Strongest):
        assert made.harmonics[:1] == (0,)
        assert 3 in made.harmonics
    rebuilt = made.reconstruct()
    expected = to_series(exact, made.harmonics, 24)
    assert np.abs(rebuilt["value"] - expected).max() < 20 * plan.rmse
    stored = SpectrumRelease.load(made.save(tmp_path / "spectrum.json"))
    assert stored.text == made.text
    assert verify(stored.signed, ledger.keys.public, release=stored.text).request == "may"
    assert load(dump(plan.design), type(plan.design)) == plan.design
    assert ledger.status("load").charges == 1
    assert str(wanted) in str(plan)
    assert "differentially private" in str(made)
    assert made.plot().data
    other = Spectrum(series + 1e-6, change=0.001, unit=cdp.Event()).plan(wanted, epsilon=1.0, delta=delta)
    with pytest.raises(RequestConflict):
        other.release(ledger, dataset="load", request="may", progress=quiet)


def noisy_numbers(wanted: Wanted, count: int, *, factor: float = 1.0, delta: float = 0.0) -> tuple[Floats, float]:
    """Numbers of harmonic 1 released so many times, and the deviation that was promised."""
    series = np.random.default_rng(2).uniform(size=16)
    design = design_spectrum(wanted, horizon=16, change=1.0, unit=cdp.Event(), epsilon=1.0, delta=delta)
    drawn = replace(design, noise=replace(design.noise, scale=design.noise.scale * factor))
    exact = exact_of(design, series, progress=quiet)
    bits = seeded(5)
    truth = numbers_of(transform(series)[[1]], (1,), 16)
    found = []
    for _ in range(count):
        _, noisy = draw_spectrum(drawn, exact, bits)
        steps = np.array(noisy) * design.noise.step
        found.append(numbers_of(transform(steps)[[1]], (1,), 16) if isinstance(wanted, WholeSpectrum) else steps)
    return np.array(found) - truth, design.deviation


@pytest.mark.parametrize(("wanted", "delta"), [(OnlyHarmonics(1), 0.0), (WholeSpectrum(), 1e-5)], ids=str)
@pytest.mark.slow
def test_noise_has_the_stated_deviation(wanted: Wanted, delta: float, trials: Trials) -> None:
    count = trials(100_000, least=6_000)

    def surprise(factor: float) -> float:
        # Both numbers of a harmonic: of Laplace noise each has a draw of its own, and of a whole series they hardly
        # hang together.
        errors, deviation = noisy_numbers(wanted, count, factor=factor, delta=delta)
        kurtosis = 6.0 if not delta and isinstance(wanted, OnlyHarmonics) else 4.0
        spread = math.sqrt((kurtosis - 1) / errors.size)
        return float(stats.norm.sf(abs(float(np.mean((errors / deviation) ** 2)) - 1) / spread) * 2)

    assert surprise(1.0) > FALSE_ALARM
    assert surprise(0.9) < FALSE_ALARM


def test_golden_periodogram_without_bias(golden: Any, trials: Trials) -> None:
    known = golden("applications/dft.json")["periodogram"]
    sigma, horizon, count = gaussian.sigma(1.0, 1e-5), 168, trials(200_000, least=40_000)
    bias = 2 * sigma**2 / horizon
    assert bias == pytest.approx(known["naive_bias_theory"], rel=1e-9)
    times = np.arange(horizon)
    wave = np.clip(0.5 + 0.25 * np.sin(2 * np.pi * times / 24) + 0.1 * np.sin(2 * np.pi * times / 12 + 1), 0, 1)
    truth = float(np.abs(transform(wave)[7]) ** 2 / horizon)
    assert truth == pytest.approx(known["true"], rel=1e-6)
    design = design_spectrum(OnlyHarmonics(7), horizon=horizon, change=1.0, unit=cdp.Event(), epsilon=1.0, delta=1e-5)
    design = replace(design, delta=1e-5, noise=Noise("gaussian", 1.0, sigma, design.noise.step))
    exact, bits = exact_of(design, wave, progress=quiet), seeded(9)
    drawn = [draw_spectrum(design, exact, bits)[1] for _ in range(count // 8)]
    sizes = (np.array(drawn, dtype=float) * design.noise.step) ** 2
    power = sizes.sum(axis=1) / horizon - 2 * design.deviation**2 / horizon
    spread = math.sqrt(known["var_theory"] / len(power))
    assert abs(float(power.mean()) - truth) < 6.2 * spread
    assert abs(float(power.mean()) + bias - truth) > 6.2 * spread  # the same test sees the bias
    assert float(power.var()) == pytest.approx(known["var_theory"], rel=0.1)


COVERED = [(Lowest(5), 0.0, 0.9), (Lowest(5), 0.0, 0.5), (Lowest(12), 1e-5, 0.9), (WholeSpectrum(), 1e-5, 0.9)]


@pytest.mark.parametrize(("wanted", "delta", "level"), COVERED if SCALE >= 1 else COVERED[1:], ids=str)
@pytest.mark.slow
def test_intervals_cover(wanted: Wanted, delta: float, level: float, ledger: cdp.Ledger, trials: Trials) -> None:
    series = np.random.default_rng(3).uniform(0, 5, size=32)
    plan = Spectrum(series, change=0.2, unit=cdp.Event()).plan(wanted, epsilon=1.0, delta=delta)
    made = plan.release(ledger, dataset="load", request="one", progress=quiet)
    exact, bits = exact_of(plan.design, series, progress=quiet), seeded(6)
    kept = transform(series)[list(made.harmonics)]
    truth, power = to_series(kept, made.harmonics, 32)[7], np.abs(kept[2]) ** 2 / 32
    hits, content = np.zeros(2), json.loads(made.text)
    count = trials(10_000, least=600)
    for _ in range(count):
        harmonics, noisy = draw_spectrum(plan.design, exact, bits)
        again = object.__new__(SpectrumRelease)
        # As it is once its text has been read: what is the same in all is read once.
        again.__dict__["_content"] = content | {"noisy": noisy, "harmonics": list(harmonics)}
        again.__dict__["design"] = plan.design
        for place, (table, row, true) in enumerate(
            ((again.reconstruct(level=level), 7, truth), (again.to_pandas(level=level), 2, power))
        ):
            hits[place] += table["lower"].to_numpy()[row] <= true <= table["upper"].to_numpy()[row]
    assert (stats.binom.cdf(hits, count, level) > FALSE_ALARM).all()
    if plan.design.noise.law == "gaussian":  # exact for the series
        assert stats.binom.sf(hits[0], count, level) > FALSE_ALARM


def coarse(wanted: Wanted) -> Any:
    """Four periods with Laplace noise on a grid coarse enough to enumerate: ε = 6 for a change of 1."""
    design = design_spectrum(wanted, horizon=4, change=1.0, unit=cdp.Event(), epsilon=6.0)
    scale = design.noise.sensitivity / 6.0
    step = 2.0 ** math.ceil(math.log2(scale * 2))
    sensitivity = design.noise.sensitivity + step * (4 if isinstance(wanted, Lowest) else 2)
    return replace(design, noise=Noise("laplace", sensitivity, sensitivity / 6.0, step))


@pytest.mark.parametrize("wanted", [OnlyHarmonics(1), OnlyHarmonics(0), OnlyHarmonics(2)], ids=str)
@pytest.mark.slow
def test_every_outcome_of_a_small_spectrum(wanted: Wanted) -> None:
    design = coarse(wanted)
    exact = functools.cache(lambda values: exact_of(design, np.array(values), progress=quiet))  # no draw in it

    def released(values: tuple[float, ...], *, entropy: Entropy) -> object:
        return draw_spectrum(design, exact(values), entropy)

    pairs = [((0.3, 1.0, 2.0, 0.0), (1.3, 1.0, 2.0, 0.0)), ((0.0, 5.5, 1.0, 2.0), (0.0, 4.5, 1.0, 2.0))]
    finding = examine(released, pairs)
    assert not finding.refutes(6.0)
    assert finding.epsilon > 1.0  # and the noise is not idle


@pytest.mark.slow
def test_rounding_never_moves_neighbours_farther_than_stated() -> None:
    generator = np.random.default_rng(4)
    for wanted in (OnlyHarmonics(5), Lowest(6), Lowest(26), Strongest(3, 20)):
        design = design_spectrum(wanted, horizon=50, change=0.7, unit=cdp.Window(3), epsilon=1.0)
        for _ in range(100):
            series = generator.normal(0, 100, size=50)
            moved = series.copy()
            first = int(generator.integers(0, 48))
            moved[first : first + 3] += generator.choice([-0.7, 0.7], size=3)
            one, two = (exact_of(design, part, progress=quiet) for part in (series, moved))
            change = np.array([a - b for a, b in zip(one, two, strict=True)], dtype=float) * design.grid * 2.0**-DIGITS
            if not isinstance(wanted, Strongest):
                assert np.abs(change).sum() <= design.noise.sensitivity
            else:
                far = np.abs(strengths(design, one).values - strengths(design, two).values).max()
                assert far <= strengths(design, one).change


def test_the_strongest_harmonics_are_found(trials: Trials) -> None:
    times = np.arange(200)
    series = 20 * np.sin(2 * np.pi * 7 * times / 200) + 12 * np.cos(2 * np.pi * 31 * times / 200)
    design = design_spectrum(Strongest(2, 100), horizon=200, change=1.0, unit=cdp.Event(), epsilon=1.0, delta=1e-5)
    exact, bits = exact_of(design, series, progress=quiet), seeded(2)
    found = [draw_spectrum(design, exact, bits)[0] for _ in range(trials(400, least=40))]
    assert set(found) == {(0, 7, 31)}
    assert design.noise.law == "laplace"
    assert basic.epsilon(design.cost, 0.0) <= 1.0
    pure = design_spectrum(Strongest(3, 100, share=0.3), horizon=200, change=1.0, unit=cdp.Event(), epsilon=0.7)
    assert basic.epsilon(pure.cost, 0.0) <= 0.7
    flat = exact_of(design, np.zeros(200), progress=quiet)
    assert len({draw_spectrum(design, flat, bits)[0] for _ in range(40)}) > 20


def test_the_whole_spectrum_is_the_series_with_noise(ledger: cdp.Ledger) -> None:
    series = np.random.default_rng(8).uniform(size=30)
    plan = Spectrum(series, change=1.0, unit=cdp.Event()).plan(WholeSpectrum(), epsilon=1.0, delta=1e-5)
    assert plan.design.noise.law == "laplace"
    made = plan.release(ledger, dataset="load", request="all", entropy=seeded(1), progress=quiet)
    noisy = Grid(plan.design.noise.step).to_values(np.array(json.loads(made.text)["noisy"]))
    np.testing.assert_allclose(made.reconstruct()["value"], noisy, atol=1e-9)
    np.testing.assert_allclose(made.lowest(16), noisy, atol=1e-9)
    assert np.var(made.lowest(3)) < np.var(noisy)
    np.testing.assert_allclose(made.numbers(), numbers_of(made.coefficients, made.harmonics, 30))
    assert str(made.certificate).startswith("SEEDED RUN")


def test_what_else_is_refused(subtests: pytest.Subtests) -> None:
    beyond: list[tuple[Any, str]] = [
        (OnlyHarmonics(13), "harmonic must be at most 12: .*Nyquist"),
        (Lowest(14), "count must be at most 13"),
        (Strongest(2, 13), "among must be at most 12"),
        ("all", "Only"),
    ]
    for values in ([], [[1.0]], ["a"], [float("nan")], [1.0, [2.0]]):
        with pytest.raises(InvalidArgument, match=r"at least one finite number.*; got a list"):
            Spectrum(values, change=1.0, unit=cdp.Event())  # type: ignore[arg-type]  # wrong on purpose
    with pytest.raises(MissingBound, match="max_periods"):
        Spectrum([1.0], change=1.0, unit=cdp.User()).plan(WholeSpectrum(), epsilon=1.0)
    with pytest.raises(InvalidArgument, match="change"):
        Spectrum([1.0], change=0.0, unit=cdp.Event()).plan(WholeSpectrum(), epsilon=1.0)
    for wrong in (
        lambda: OnlyHarmonics(-1),
        lambda: Lowest(0),
        lambda: Strongest(3, 2),
        lambda: Strongest(1, 2, share=1.0),
    ):
        with pytest.raises(InvalidArgument):
            wrong()
    with pytest.raises(InvalidArgument, match=r"WholeSpectrum\(\) has no limit"):
        exact_numbers(np.zeros(2**20, dtype=np.int64), tuple(range(2**10)))
    with pytest.raises(InvalidArgument, match="one public number"):
        compare_lowest(np.zeros((4, 2)), change=1.0, unit=cdp.Event(), epsilon=1.0)
    for wanted, said in beyond:
        with subtests.test(wanted=wanted, said=said), pytest.raises(InvalidArgument, match=said):
            Spectrum(np.zeros(24), change=1.0, unit=cdp.Event()).plan(wanted, epsilon=1.0)
    for whole in (WholeSpectrum(), Lowest(2), OnlyHarmonics(1), Strongest(2, 6)):
        with subtests.test(wanted=whole), pytest.raises(InvalidArgument, match="epsilon"):
            Spectrum(np.ones(24), change=1.0, unit=cdp.Event()).plan(whole, epsilon=1e-12)


def test_whole_numbers_of_any_size_are_numbers(ledger: cdp.Ledger) -> None:
    plan = Spectrum([2**70, 1, 1], change=1.0, unit=cdp.Event()).plan(Lowest(1), epsilon=1.0)
    plan.release(ledger, dataset="load", request="large", entropy=seeded(1))
    assert ledger.status("load").charges == 1
