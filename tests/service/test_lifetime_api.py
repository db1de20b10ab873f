"""Lifetime series over the wire: who sees and asks what, the client, and what is not shown to anybody."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp.errors import InvalidArgument, NotAllowed
from tests.service.lives import ask, issued, month, write_life_policy
from tests.service.town import House, open_house

pytestmark = pytest.mark.slow
SERIES = "/datasets/meters/lifetimes/load"


@pytest.fixture(scope="module")
def lives(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder = tmp_path_factory.mktemp("lives")
    with open_house(write_life_policy(folder), str(folder / "budget.db")) as house:
        assert issued(house, "ana", 0)["state"] == "done"
        assert issued(house, "ana", 1, clip=[0.0, 2.0])["state"] == "done"
        yield house


def test_what_is_public_is_shown_to_whoever_may_ask_about_the_dataset(lives: House) -> None:
    shown = {who: lives.get(who, SERIES).json() for who in ("olga", "ana", "ben", "eve")}
    assert {who: one.pop("may_ask") for who, one in shown.items()} == {
        "olga": True,
        "ana": True,
        "ben": False,
        "eve": False,
    }
    one = shown["ana"]
    assert shown == dict.fromkeys(shown, one)
    assert (one["epsilon"], one["delta"], one["max_periods"], one["pays"]) == (1.0, 1e-6, 12, "own")
    assert "stop counting with issue 13, at the earliest" in one["cliff"]
    assert [(issue["issue"], issue["request"], issue["start"][:10]) for issue in one["issues"]] == [
        (2, "ana/month 1", "2020-02-01"),
        (1, "ana/month 0", "2020-01-01"),
    ]
    assert one["issues"][0]["takes"] == "a counted month takes at most 0.444 of 12 shares"
    assert one["next"]["start"].startswith("2020-03-01")
    assert lives.get("ana", "/datasets/meters/lifetimes").json()[0]["name"] == "load"
    assert lives.get("ana", "/datasets/meters").json()["lifetimes"] == ["load"]
    assert lives.get("zoe", SERIES).status_code == 404
    assert lives.get("ana", "/datasets/meters/lifetimes/other").status_code == 404


def test_an_issue_is_read_by_the_same_routes_as_other_releases(lives: House) -> None:
    at = "/datasets/meters/releases/1"
    release = lives.get("ben", at).json()
    assert release["request"] == "ana/month 0"
    assert {"label": "Takes", "text": "a counted month takes at most 1 of 12 shares"} in release["facts"]
    assert len(lives.get("ben", f"{at}/table?over_all=true").json()["rows"]) == 1
    assert lives.get("ben", f"{at}/table?format=csv").status_code == 200
    checked = lives.post("ben", "/verify", {"release": release["release"], "link": release["link"]}).json()
    assert checked["valid"], checked
    assert "for ever" in lives.get("ben", f"{at}/certificate").json()["words"]


def test_who_may_not_ask_is_told_why(lives: House) -> None:
    for who, words in (("ben", "takes shares of everyone"), ("eve", "owner or analyst")):
        refused = ask(lives, who, 5)
        assert refused.status_code == 403
        assert words in refused.json()["error"]["mend"]
    again = ask(lives, "ana", 0)
    assert (again.status_code, again.json()["release"]) == (200, 1)
    other = ask(lives, "ana", 0, request="other", fresh=True)
    assert (other.status_code, other.json()["error"]["kind"]) == (403, "not_allowed")
    conflict = ask(lives, "ana", 5, request="month 0")
    assert (conflict.status_code, conflict.json()["error"]["kind"]) == (409, "conflict")


def test_steps_of_the_tally_are_no_stream(lives: House) -> None:
    assert lives.get("olga", "/streams").json() == []
    assert lives.get("olga", "/streams/load").status_code == 404
    assert lives.get("olga", "/streams/load/events?wait=0").status_code == 404


def test_the_folder_and_what_is_in_it_are_in_no_answer(lives: House) -> None:
    paths = ("/datasets", SERIES, "/datasets/meters/releases/1", "/datasets/meters/budget", "/datasets/meters/history")
    for path in (*paths, "/jobs", "/metrics", "/claims", "/datasets/meters/chain"):
        # Keys and signatures are left out, which hold any two letters by chance.
        text = re.sub(r"[A-Za-z0-9+/]{43,}=", "", lives.get("olga", path).text)
        assert not any(word in text for word in ("load.tally", "segment", "used_up", "m7")), path


def test_the_client_asks_for_issues_and_verifies_them(lives: House) -> None:
    with cdp.Client(str(lives.http.base_url), token=lives.tokens["ana"]) as client:
        assert client.lifetimes("meters")["name"].tolist() == ["load"]
        load = client.lifetime("meters", "load")
        assert "for all issues together, the same for ever" in str(load)
        start, end = month(8).values()
        release = load.issue(request="from afar", start=start, end=end, clip=(0.0, 2.5))
        assert release.link.request == "ana/from afar"
        assert release.design.life is not None
        assert load.issue(request="from afar", start=start, end=end, clip=(0.0, 2.5)).text == release.text
        assert load.issues["request"].tolist()[0] == "ana/from afar"
        assert load.half_width() == pytest.approx(86.05, abs=0.01)
        with pytest.raises(NotAllowed, match="issued already"):
            load.issue(request="once more", start=start, end=end)
        with pytest.raises(InvalidArgument, match=r"client\.lifetime"):
            client.dataset("meters").count().lifetime(epsilon=1.0, max_periods=3)


def test_where_releases_are_not_shared_requests_of_others_are_theirs(tmp_path: Path) -> None:
    with open_house(write_life_policy(tmp_path, share=False), str(tmp_path / "budget.db")) as house:
        issued(house, "ana", 0)
        (theirs,) = house.get("ben", SERIES).json()["issues"]
        assert (theirs["request"], theirs["release"], theirs["who"]) == ("", None, "another analyst")
        assert theirs["start"].startswith("2020-01-01")
        (mine,) = house.get("ana", SERIES).json()["issues"]
        assert (mine["request"], mine["release"]) == ("ana/month 0", 1)
