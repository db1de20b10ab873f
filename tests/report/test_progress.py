from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Callable
from typing import TextIO

import pytest

from chronodp.report import progress, watching

if sys.platform == "win32":
    pytest.skip("terminals are imitated with a pty", allow_module_level=True)


@pytest.fixture
def seen(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], str]:
    """Run something with a terminal as standard error, and return what the terminal was sent."""

    def run(action: Callable[[], None]) -> str:
        keyboard, screen = os.openpty()
        sent = bytearray()

        def listen() -> None:
            # The far end of a closed terminal answers with an error.
            try:
                while block := os.read(keyboard, 4096):
                    sent.extend(block)
            except OSError:
                pass

        listener = threading.Thread(target=listen)
        listener.start()
        with open(screen, "w", encoding="utf-8") as terminal, monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", terminal)
            patch.setenv("TERM", "xterm")
            action()
        listener.join()
        os.close(keyboard)
        return sent.decode()

    return run


def test_is_quiet_where_nobody_watches(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setenv("FORCE_COLOR", "1")
    with watching("counting") as tell:
        for fraction in (0.0, 0.5, 1.0):
            tell(fraction)
            time.sleep(0.05)
    assert capfd.readouterr() == ("", "")
    no_stream: TextIO | None = None
    monkeypatch.setattr(sys, "stderr", no_stream)
    with watching("counting") as tell:
        tell(0.5)


@pytest.mark.slow
def test_long_work_shows_a_bar_and_clears_it(
    seen: Callable[[Callable[[], None]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.05)

    def work() -> None:
        with watching("counting [red]people") as tell:
            tell(0.25)
            time.sleep(0.6)  # the bar comes by itself, without another word
            workers = [threading.Thread(target=tell, args=(0.5 + index / 100,)) for index in range(8)]
            for worker in workers:
                worker.start()
            for worker in workers:
                worker.join()
            for nonsense in (float("nan"), float("inf"), -1.0, None, "much", 0.75):
                tell(nonsense)  # type: ignore[arg-type]
            time.sleep(0.3)

    before = threading.active_count()
    shown = seen(work)
    assert "counting [red]people" in shown
    assert "25 %" in shown
    assert "75 %" in shown
    assert shown.rstrip("\r\n").endswith("\x1b[2K")  # the last thing that happens to the line is that it is erased
    for _ in range(200):  # rich tells its thread to end and does not wait for it
        if threading.active_count() == before:
            break
        time.sleep(0.05)
    assert threading.active_count() == before


def test_an_error_of_the_work_passes_through(
    seen: Callable[[Callable[[], None]], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)

    def work() -> None:
        with watching("counting"):
            time.sleep(0.3)
            raise ZeroDivisionError

    def fail() -> None:
        with pytest.raises(ZeroDivisionError):
            work()

    assert "counting" in seen(fail)
