"""Three verifiers of a dossier: the library's, a hundred lines of Python, and a page. All name the same faults."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.resources import files as resources
from itertools import pairwise
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow
import pyarrow.ipc
import pytest
from playwright.sync_api import Browser, Page

import chronodp as cdp
from chronodp.dossier import verify_dossier, write_dossier
from chronodp.ledger import Keys, Ledger
from tests import axe
from tests.conftest import SCALE
from tests.dossier.changes import CHANGES, Change, Files, files_of, flips, write_files
from tests.dossier.everything import meters

VERIFIER = Path(str(resources("chronodp.dossier") / "verifier"))
EACH = 3 if SCALE >= 1 else 2  # flipped bits of every file


@dataclass(frozen=True)
class Made:
    """A dossier's files, and the keys that signed them."""

    files: Files
    keys: Keys

    def changed(self, change: Change) -> tuple[Files, str]:
        """Return the files after a change, and the key that the verifier is given."""
        files = dict(self.files)
        change.make(files, self.keys)
        return files, self.keys.public if change.given else ""

    def flipped(self, path: str, place: int, bit: int) -> Files:
        content = bytearray(self.files[path])
        content[place] ^= 1 << bit
        return {**self.files, path: bytes(content)}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """Write a dossier of three releases: counts, sums in groups whose names have commas, and means."""
    times = pd.date_range("2026-01-01", periods=48, freq="h")
    rows = pd.DataFrame({"user": [user for user in "abcdef" for _ in times], "time": [*times] * 6, "kwh": 1.5})
    rows["place"] = rows["user"].map(lambda user: "north, upper" if user < "d" else 'the "south"\nside')
    series = cdp.TimeSeries(
        rows,
        time="time",
        user="user",
        every="12h",
        start="2026-01-01",
        end="2026-01-03",
        unit=cdp.User(),
        max_periods=4,
    )
    total = series.sum("kwh", clip=(0.0, 3.0))
    asked = {
        "count": series.count(),
        "sum": total.by(place=sorted(rows["place"].unique())),
        "mean": series.mean("kwh", clip=(0.0, 3.0), of="people"),
    }
    folder = tmp_path_factory.mktemp("dossier")
    with Ledger(tmp_path_factory.mktemp("ledger") / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=10.0, delta=1e-6)
        for request, query in asked.items():
            query.plan(epsilon=1.0, delta=1e-7).release(ledger, dataset="meters", request=request)
        write_dossier(ledger, "meters", folder)
        return Made(files_of(folder), ledger.keys)


def by_library(folder: Path, files: Files, given: str) -> list[str]:
    return list(verify_dossier(write_files(folder, files), public_key=given or None).faults)


@pytest.fixture(scope="module")
def by_script() -> Callable[[Files, str], list[str]]:
    spec = importlib.util.spec_from_file_location("verify_of_a_dossier", VERIFIER / "verify.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return lambda files, given: list(module.check(files, given))


def test_library_and_script_name_what_was_changed(
    made: Made, tmp_path: Path, by_script: Callable[[Files, str], list[str]]
) -> None:
    for number, change in enumerate(CHANGES):
        files, given = made.changed(change)
        assert by_script(files, given) == list(change.faults), change.name
        assert by_library(tmp_path / str(number), files, given) == list(change.faults), change.name


@pytest.mark.slow
def test_library_and_script_name_every_file_with_a_flipped_bit(
    made: Made, tmp_path: Path, by_script: Callable[[Files, str], list[str]]
) -> None:
    folder = write_files(tmp_path, made.files)
    for path, place, bit in flips(made.files, each=EACH):
        files = made.flipped(path, place, bit)
        (folder / path).write_bytes(files[path])
        for faults in (by_script(files, ""), list(verify_dossier(folder).faults)):
            assert any(names(fault, path) for fault in faults), (path, place, bit, faults)
        (folder / path).write_bytes(made.files[path])
    assert verify_dossier(folder).faults == ()


def names(fault: str, path: str) -> bool:
    """Return whether a fault is that of a file; a signature's is that of what was signed."""
    return fault.startswith(f"{path.replace('manifest.sig', 'manifest.json')}: ")


def test_says_what_is_there(made: Made, tmp_path: Path) -> None:
    verified = verify_dossier(write_files(tmp_path, made.files), public_key=made.keys.public)
    assert (verified.dataset, verified.links, verified.releases) == ("meters", 3, 3)
    assert verified.files == len(made.files) - 2
    head = json.loads(made.files["manifest.json"])["head"]
    assert verify_dossier(tmp_path, head=head).faults == ()
    (fault,) = verify_dossier(tmp_path, head="0" * 64).faults
    assert "newer links are missing" in fault


def test_script_has_a_hundred_lines_and_needs_cryptography_alone() -> None:
    text = (VERIFIER / "verify.py").read_text()
    assert len(text.splitlines()) <= 100
    imported = {line.split()[1].split(".")[0] for line in text.splitlines() if line.startswith(("import ", "from "))}
    assert imported - set(sys.stdlib_module_names) == {"cryptography"}


@pytest.mark.slow
def test_every_kind_of_release_verifies(
    everything: cdp.Ledger, folder: Path, by_script: Callable[[Files, str], list[str]]
) -> None:
    assert verify_dossier(folder, public_key=everything.public_key).faults == ()
    assert by_script(files_of(folder), everything.public_key) == []


def test_numbers_beside_the_text_are_those_that_were_signed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_script: Callable[[Files, str], list[str]]
) -> None:
    monkeypatch.setattr("chronodp.ledger.numbers.MOST_LISTED", 3)  # four numbers are too many for a text
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0)
        meters().count().plan(epsilon=1.0).release(ledger, dataset="meters", request="count")
        folder = write_dossier(ledger, "meters", tmp_path / "dossier")
    files = files_of(folder)
    assert verify_dossier(folder).faults == ()
    assert by_script(files, "") == []
    place = folder / "releases" / "0001.arrow"
    with pyarrow.ipc.open_file(place.read_bytes()) as reader:
        schema = reader.schema
        numbers: list[Any] = reader.get_batch(0).column(0).to_pylist()
    numbers[0] += 1
    with pyarrow.OSFile(str(place), "wb") as sink, pyarrow.ipc.new_file(sink, schema) as writer:
        writer.write_batch(pyarrow.record_batch([pyarrow.array(numbers)], schema=schema))
    changed = "releases/0001.arrow: it is not the file that the manifest lists: it was changed"
    signed = "releases/0001.arrow: part 1 of 1 of the numbers is not the one that was signed"
    assert verify_dossier(folder).faults == (changed, signed)
    assert by_script(files_of(folder), "") == [changed]


@pytest.mark.slow
def test_script_ends_with_what_it_found(made: Made, tmp_path: Path) -> None:
    write_files(tmp_path, made.files)
    command = [sys.executable, "-I", str(tmp_path / "verify.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout[:6], done.stderr) == (0, "Valid;", "")
    (tmp_path / "added\nValid; all of it").write_text("")
    done = subprocess.run([*command, str(tmp_path), made.keys.public], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == "added\\nValid; all of it: it is not in the manifest: it was added\n"


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Page]:
    """Open the page without a network."""
    with browser.new_context(viewport={"width": 390, "height": 800}) as context:
        context.set_offline(True)
        tab = context.new_page()
        tab.goto((VERIFIER / "verify.html").as_uri())
        yield tab


_BATCH = """async ([base, changes, plain]) => {
  const bytes = (text) => Uint8Array.from(atob(text), (one) => one.charCodeAt(0));
  const whole = Object.entries(base).map(([path, text]) => [path, bytes(text)]);
  const found = [];
  for (const [changed, given] of changes) {
    const files = Object.fromEntries(whole);
    for (const [path, text] of Object.entries(changed)) {
      if (text === null) delete files[path]; else files[path] = bytes(text);
    }
    found.push(await check(files, given, plain));
  }
  return found;
}"""


def by_page(page: Page, made: Made, changed: list[tuple[Files, str]], *, plain: bool) -> list[list[str]]:
    """Return the faults that the page names, of many folders at once."""

    def difference(files: Files) -> dict[str, str | None]:
        gone: dict[str, str | None] = dict.fromkeys(made.files.keys() - files.keys())
        new = {path: content for path, content in files.items() if made.files.get(path) != content}
        return {**gone, **_texts(new)}

    changes = [[difference(files), given] for files, given in changed]
    found: list[list[str]] = page.evaluate(_BATCH, [_texts(made.files), changes, plain])
    return found


def _texts(files: Files) -> dict[str, str]:
    return {path: base64.b64encode(content).decode() for path, content in files.items()}


@pytest.mark.browser
@pytest.mark.slow
@pytest.mark.parametrize("plain", [False, True], ids=["by the browser", "by the page's own script"])
def test_page_names_what_was_changed(page: Page, made: Made, plain: bool) -> None:
    found = by_page(page, made, [made.changed(change) for change in CHANGES], plain=plain)
    assert dict(zip((one.name for one in CHANGES), found, strict=True)) == {
        one.name: list(one.faults) for one in CHANGES
    }


@pytest.mark.browser
@pytest.mark.slow
def test_page_names_every_file_with_a_flipped_bit(page: Page, made: Made) -> None:
    flipped = flips(made.files, each=EACH)
    found = by_page(page, made, [(made.flipped(*flip), "") for flip in flipped], plain=False)
    for flip, faults in zip(flipped, found, strict=True):
        assert any(names(fault, flip[0]) for fault in faults), (flip, faults)


@pytest.mark.browser
@pytest.mark.slow
def test_page_has_the_functions_of_the_standards(page: Page) -> None:
    keys = [Keys.create() for _ in range(3)]
    messages = [bytes(range(256))[:length] for length in (0, 1, 55, 56, 63, 64, 111, 112, 119, 120, 128, 200)]
    hashed = page.evaluate(
        "(texts) => texts.map((one) => [plainSha256(unbase64(one)), plainSha512(unbase64(one))].map(hex))",
        [base64.b64encode(one).decode() for one in messages],
    )
    assert hashed == [[hashlib.sha256(one).hexdigest(), hashlib.sha512(one).hexdigest()] for one in messages]
    signed: list[list[Any]] = [
        [key.public, key.sign(message), base64.b64encode(message).decode()] for key in keys for message in messages[:4]
    ]
    others = [[one[0], one[1], other[2]] for one, other in pairwise(signed)]
    verify = (
        "(rows) => rows.map(([key, signature, message]) => plainEd25519(...[key, signature, message].map(unbase64)))"
    )
    assert page.evaluate(verify, signed) == [True] * len(signed)
    assert page.evaluate(verify, others) == [False] * len(others)


@pytest.mark.browser
@pytest.mark.slow
def test_page_reads_a_folder_that_is_chosen(page: Page, made: Made, tmp_path: Path) -> None:
    folder = write_files(tmp_path / "meters", made.files)
    (folder / ".DS_Store").write_bytes(b"\0")
    assert axe.faults(page) == []
    page.set_input_files("#folder", folder)
    page.wait_for_selector("section.valid :text('own key')")
    page.fill("#key", Keys.create().public)
    page.press("#key", "Enter")
    page.wait_for_selector("section.faulty :text('it names another public key than the one given')")
    page.fill("#key", made.keys.public)
    page.press("#key", "Enter")
    page.wait_for_selector("section.valid :text('the key that you gave')")
    assert "3 certificates in the chain, 3 releases here" in page.inner_text("#result")
    (folder / "releases" / "0002.json").unlink()
    page.set_input_files("#folder", folder)
    page.wait_for_selector("section.faulty")
    assert "releases/0002.json: it is missing" in page.inner_text("#result")
    assert axe.faults(page) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.browser
@pytest.mark.slow
def test_page_reads_folders_that_are_dropped(page: Page, made: Made, tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_files(tmp_path / "both" / name, made.files)
    (tmp_path / "both" / "two" / "chain.json").write_text("[]")
    page.reload()
    page.fill("#key", "")
    box = page.locator("#folder").bounding_box()
    assert box is not None
    data = {"items": [], "files": [str(tmp_path / "both")], "dragOperationsMask": 1}
    session = page.context.new_cdp_session(page)
    for kind in ("dragEnter", "dragOver", "drop"):
        session.send("Input.dispatchDragEvent", {"type": kind, "x": box["x"] + 9, "y": box["y"] + 9, "data": data})
    page.wait_for_selector("section.faulty")
    assert page.locator("section.valid h2").inner_text() == "both/one: valid"
    assert "chain.json: it is missing, or not written as in a dossier" in page.inner_text("section.faulty")
