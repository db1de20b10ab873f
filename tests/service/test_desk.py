"""What the owner's desk asks of the API: tokens, policies in words, spending, publications."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import pytest

from chronodp import errors
from chronodp.service.tokens import check_token
from tests.service.town import API, COUNT, SUM, House, house_of, write_policy

house = house_of(write_policy, lambda house: house.ended("ana", "load", SUM), scope="module")


def delete(house: House, who: str, path: str) -> int:
    return house.http.delete(API + path, headers=house.headers(who)).status_code


def test_a_token_is_made_shown_once_and_revoked(house: House) -> None:
    made = house.post("olga", "/tokens", {"name": "kim", "role": "auditor", "days": 30})
    assert made.status_code == 201
    assert made.headers["cache-control"] == "no-store"
    token = made.json()["token"]
    assert check_token(house.curator.store, token).role == "auditor"
    length = dt.datetime.fromisoformat(made.json()["expires"]) - dt.datetime.fromisoformat(made.json()["made"])
    assert length == dt.timedelta(days=30)
    for who in ("olga", "eve"):
        listed = house.get(who, "/tokens")
        assert token.split("_", 2)[2] not in listed.text
        assert {one["name"]: one["mine"] for one in listed.json()}[who]
        assert [one["state"] for one in listed.json() if one["name"] == "kim"] == ["valid"]
    headers = {"Authorization": f"Bearer {token}"}
    assert house.http.get(f"{API}/me", headers=headers).json()["name"] == "kim"
    for _ in range(2):  # again it changes nothing
        assert delete(house, "olga", f"/tokens/{made.json()['id']}") == 200
    assert house.http.get(f"{API}/me", headers=headers).status_code == 401
    listed = house.get("olga", "/tokens").json()
    assert [one["state"] for one in listed][-1] == "revoked"  # what opens something comes first


def test_a_token_that_cannot_be_made_is_refused_by_its_argument(house: House) -> None:
    cases: list[tuple[dict[str, object], str]] = [
        ({"name": "", "role": "owner"}, "name"),
        ({"name": "a/b", "role": "owner"}, "name"),
        ({"name": "owner:olga", "role": "analyst"}, "name"),  # under which the ledger knows requests of olga's
        ({"name": "kim", "role": "root"}, "role"),
        ({"name": "kim", "role": "owner", "days": 0}, "days"),
        ({"name": "kim", "role": "owner", "days": 1e300}, "days"),
        ({"name": "kim", "role": "owner", "more": 1}, "more"),
    ]
    for asked, argument in cases:
        refused = house.post("olga", "/tokens", asked)
        assert refused.status_code == 422, (asked, argument)
        assert refused.json()["error"]["argument"] == argument, (asked, argument)


def test_a_token_that_is_not_there_is_not_revoked(house: House) -> None:
    assert delete(house, "olga", "/tokens/00ff00ff00ff") == 404
    assert delete(house, "olga", "/tokens/%00") == 422


def test_spending_ends_where_the_budget_stands(house: House) -> None:
    found = house.get("eve", "/datasets/meters/spending").json()
    whole = house.get("eve", "/datasets/meters/budget").json()["whole"]
    assert (found["epsilon"], found["delta"], found["period"]) == (8.0, 1e-6, "")
    assert found["share"] == found["days"][-1]["share"] == whole["share"] > 0
    assert sum(day["charges"] for day in found["days"]) == whole["charges"] == 1
    assert found["days"][-1]["day"] == dt.datetime.now(dt.UTC).date().isoformat()
    used = house.get("eve", "/spending").json()
    assert [(one["dataset"], one["share"]) for one in used] == [("meters", whole["share"]), ("other", 0.0)]
    assert house.get("olga", "/datasets/other/spending").json()["days"] == []
    assert house.get("olga", "/datasets/nothing/spending").status_code == 404
    assert house.get("olga", "/datasets/meters/spending?period=2026-01").status_code == 422


def pasted(house: House, who: str, text: str) -> dict[str, Any]:
    found: dict[str, Any] = house.post(who, "/policy/check", {"text": text}).json()
    return found


def test_the_policy_is_told_in_words_by_dataset(house: House) -> None:
    told = house.get("eve", "/policy").json()
    assert [one["dataset"] for one in told] == ["meters", "other"]
    assert all(one["words"] for one in told)
    assert house.get("olga", "/policy?dataset=other").json() == told[1:]
    assert house.get("olga", "/policy?dataset=nothing").status_code == 404
    assert "rows." not in str(told)  # where the data lie is nobody's but the machine's


def test_a_policy_is_checked_by_its_text_alone(house: House, tmp_path: Path) -> None:
    """The answer is the same whether files are there or not: nobody asks a check about files of the machine."""
    text = write_policy(tmp_path).read_text(encoding="utf-8")
    for path in (
        "rows.parquet",
        f"{tmp_path}/rows.parquet",
        f"{tmp_path}/nowhere.parquet",
        "/etc/passwd",
        "/**/passwd",
        "../x",
    ):
        told = pasted(house, "olga", text.replace('"rows.parquet"', f'"{path}"', 1))
        assert told["problem"] is None, path
        assert [one["dataset"] for one in told["datasets"]] == ["meters", "other"]
        assert told["datasets"] == pasted(house, "olga", text)["datasets"]
    (tmp_path / "link.parquet").symlink_to(tmp_path / "rows.parquet")
    alone = text.replace("other_people = true\n", "").replace('"rows.parquet"', f'"{tmp_path}/rows.parquet"', 1)
    for other in ("link.parquet", "lost.parquet"):  # the first is the file that the other dataset has
        assert pasted(house, "olga", alone.replace('"rows.parquet"', f'"{tmp_path}/{other}"'))["problem"] is None, other
    deep = "/".join(["**", "x"] * 400)
    assert (
        pasted(house, "olga", alone.replace('"rows.parquet"', f'"{deep}"'))["problem"] is None
    )  # no row has such a path
    same = pasted(house, "olga", alone.replace('"rows.parquet"', f'"{tmp_path}/./rows.parquet"'))
    assert "other_people" in same["problem"]["message"]  # that the text says by itself


def test_keys_of_many_parts_are_not_even_read(house: House) -> None:
    cases: list[str] = [
        "a." * 400 + "a = 1",
        "[" + "a." * 400 + "a]\nb = 1",
        "[[" + "a . " * 40 + "a]]",
        "x = {" + "'a'." * 40 + "a = 1}",
        's = """a"""""\n' + '"a".' * 40 + "a = 1",
        "s = '''a''''\n# '\n" + "a." * 40 + "a = 1",
    ]
    for text in cases:
        told = pasted(house, "olga", text)
        assert "a key in it has more than 32 parts" in told["problem"]["message"], text


def test_dots_that_part_no_keys_are_read(house: House, tmp_path: Path) -> None:
    text = write_policy(tmp_path).read_text(encoding="utf-8")
    dots = "." * 100
    told = pasted(house, "olga", f"# {dots}\n" + text + f'\n# "{dots}\n')
    assert told["problem"] is None
    for odd in (
        f'"{dots}"',
        f'"\\"{dots}"',
        f"'{dots}'",
        f'"""\n"{dots}""""',
        f"'''\n'{dots}''''",
        f"[{'1.5, ' * 50}]",
    ):
        told = pasted(house, "olga", text + f"\n[datasets.meters.odd]\nodd = {odd}\n")
        assert "parts" not in told["problem"]["message"], odd


def test_what_is_wrong_in_a_policy_is_told_with_its_line_and_without_its_values(house: House, tmp_path: Path) -> None:
    text = write_policy(tmp_path).read_text(encoding="utf-8")
    lines = text.splitlines()
    wrong = {
        "epsilon = 8.0": 'epsilon = "the secret"',
        'every = "1h"': 'every = "the secret"',
        'unit = "user"': 'unnit = "the secret"',
        "[datasets.meters.columns.kwh]": "[datasets.meters.columns.kwh",
        'timezone = "UTC"': "",
    }
    for good, bad in wrong.items():
        if good not in lines:
            continue
        place = lines.index(good) + 1
        told = pasted(house, "olga", text.replace(good, bad, 1))
        assert told["datasets"] == []
        assert told["line"] == place, bad
        assert told["problem"]["kind"] == "invalid_argument"
        assert "the secret" not in str(told)
    assert house.post("olga", "/policy/check", {"text": "x" * (2**18 + 1)}).status_code == 422
    assert house.post("eve", "/policy/check", {"text": text}).status_code == 403


def test_publications_say_what_was_released_about_whom(house: House) -> None:
    for number in range(3):
        asked = COUNT | {"epsilon": 0.01 * (1 + number)}
        house.ended("olga", f"more {number}", asked)
    told = house.get("eve", "/publications").json()
    assert [one["number"] for one in told] == [4, 3, 2, 1]
    first = told[-1]
    assert (first["dataset"], first["who"], first["request"]) == ("meters", "ana", "ana/load")
    assert "one person" in first["unit"]
    assert "kwh" in first["what"]
    assert first["delta"] == 1e-6
    # Of a release at (0.5, 1e-7), at the dataset's larger delta.
    assert 0.3 < first["epsilon"] < 0.5
    assert "the owner" not in first["who"]
    assert house.get("olga", "/publications?dataset=other").json() == []
    assert house.get("olga", "/publications?dataset=nothing").status_code == 404
    pages, before = [], ""
    while True:
        page = house.get("olga", f"/publications?limit=3{before}")
        pages.append([one["number"] for one in page.json()])
        if "x-next" not in page.headers:
            break
        before = f"&before={page.headers['x-next']}"
    assert pages == [[4, 3, 2], [1]]
    assert house.get("olga", "/publications?before=nonsense").status_code == 422


def test_the_desk_is_at_hand_from_afar(house: House, tmp_path: Path) -> None:
    text = write_policy(tmp_path).read_text(encoding="utf-8")
    with house.client("olga") as client:
        desk = client.desk
        token = desk.add_token("lou", role="auditor", days=2)
        identity = desk.tokens().query("name == 'lou'")["id"].item()
        assert token.split("_")[1] == identity
        desk.revoke_token(identity)
        assert desk.tokens().query("name == 'lou'")["state"].item() == "revoked"
        assert desk.policy() == desk.check_policy(text)
        with pytest.raises(errors.ServiceError, match="line 11"):
            desk.check_policy(text.replace('source = "rows.parquet"', "source = 1", 1))
        assert desk.spending("meters")["share"].iloc[-1] == client.budget("meters")["whole"]["share"]
        assert desk.publications("meters", limit=1)["number"].item() == 4
