"""What submitting would debit, told before: as the debit then is, and for nothing."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.service.town import COUNT, SUM, House, open_house, write_policy

pytestmark = pytest.mark.slow


def _quote(house: House, who: str, request: str, question: object = SUM, *, fresh: bool = False) -> dict[str, object]:
    content = {"request": request, "question": question, "fresh": fresh}
    found: dict[str, object] = house.post(who, "/datasets/meters/quote", content).json()
    return found


def test_a_quote_is_what_the_debit_then_is(house: House) -> None:
    before = house.get("olga", "/datasets/meters/history").json()
    said = _quote(house, "ana", "first")
    assert _quote(house, "ana", "first") == said
    assert house.get("olga", "/datasets/meters/history").json() == before == []
    assert house.get("ana", "/jobs").json() == []  # nothing is on disk
    house.finish("ana", house.submit("ana", "first", SUM).json()["id"])
    budget = house.get("ana", "/datasets/meters/budget").json()
    assert said["debits"] is True
    assert said["left"] == pytest.approx(1 - budget["whole"]["share"])
    assert said["left_of_mine"] == pytest.approx(1 - budget["mine"]["share"])
    assert said["delta"] == 1e-6
    assert 0 < said["epsilon"] < 0.5  # type: ignore[operator]  # asked at a tenth of the dataset's delta
    assert _quote(house, "olga", "own", COUNT)["left_of_mine"] is None  # the owner spends from the whole


def test_what_was_asked_before_is_quoted_at_nothing(house: House) -> None:
    house.finish("ana", house.submit("ana", "first", SUM).json()["id"])
    for who, request, why in (
        ("ana", "first", "This request was made before"),
        ("ana", "second", "The same question was asked before"),
        ("ben", "first", "The same question was asked before"),
    ):
        said = _quote(house, who, request)
        assert (said["debits"], said["epsilon"], said["release"]) == (False, 0.0, 1)
        assert str(said["why"]).startswith(why)
    assert _quote(house, "ana", "second", fresh=True)["debits"] is True
    # It is refused where the submission would be, in the same words.
    dear = SUM | {"epsilon": 9.9}
    for request, question in (("first", COUNT), ("third", dear), ("fourth", SUM | {"every": "1W"})):
        refused = house.submit("ana", request, question)
        assert refused.status_code >= 400
        assert _quote(house, "ana", request, question) == refused.json()


def test_where_releases_are_not_shared_a_quote_tells_nothing_of_others(tmp_path: Path) -> None:
    with open_house(write_policy(tmp_path, share=False), str(tmp_path / "budget.db")) as house:
        before = _quote(house, "ben", "first")
        house.finish("ana", house.submit("ana", "first", SUM).json()["id"])
        after = _quote(house, "ben", "first")
        assert after["debits"] is True
        assert after | {"left": None} == before | {"left": None}  # the whole has less: that someone spent is no secret
