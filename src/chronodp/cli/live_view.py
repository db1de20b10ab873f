"""What is seen of a live stream: a table that stands on the terminal, or plain lines."""

from __future__ import annotations

import json
import sys
import time
from collections import deque
from typing import TYPE_CHECKING, Any, Protocol

from rich.console import Group
from rich.live import Live as Screen
from rich.table import Table
from rich.text import Text

from chronodp.cli.terminal import terminal
from chronodp.display import shown
from chronodp.report import comma_separated, number_format, number_text

if TYPE_CHECKING:
    from chronodp.live import Progress

__all__ = ["LineView", "ScreenView", "View"]

_SHOWN = 12  # rows on the screen


class View(Protocol):
    """Shows releases as they come, and sentences for the owner."""

    def tell(self, rows: list[dict[str, Any]]) -> None:
        """Show one released window."""
        ...

    def say(self, sentence: str) -> None:
        """Show the owner a sentence."""
        ...

    def refresh(self, progress: Progress) -> None:
        """Show how it is doing."""
        ...

    def close(self, progress: Progress) -> None:
        """Show the end."""
        ...


class LineView:
    """One line of CSV, or one JSON object, a release on standard output; sentences for the owner on standard error.

    Keys stand in CSV as they are shown; JSON has them to the letter.
    """

    def __init__(self, *, as_json: bool) -> None:
        self._as_json, self._headed = as_json, False

    def tell(self, rows: list[dict[str, Any]]) -> None:
        """Write one released window."""
        if self._as_json:
            text = "".join(f"{json.dumps(row)}\n" for row in rows)
        else:
            cells = [[shown(cell) if isinstance(cell, str) else cell for cell in row.values()] for row in rows]
            text = comma_separated(list(map(shown, rows[0])), cells).replace("\r\n", "\n")
            text = text if not self._headed else text.partition("\n")[2]
            self._headed = True
        sys.stdout.write(text)
        sys.stdout.flush()

    def say(self, sentence: str) -> None:
        """Write a sentence."""
        print(shown(f"live: {sentence}"), file=sys.stderr, flush=True)

    def refresh(self, progress: Progress) -> None:
        """Lines stand as they are."""

    def close(self, progress: Progress) -> None:
        """Write the figures for the owner."""
        self.say(_stopped(progress))
        self.say(_figures(progress))


class ScreenView:
    """A table of the last releases with rate, lag, and budget, which stands on the terminal."""

    def __init__(self, title: str) -> None:
        self._title = title
        self._rows: deque[dict[str, Any]] = deque(maxlen=_SHOWN)
        self._sentences: deque[str] = deque(maxlen=3)
        self._drawn, self._before = 0.0, (time.monotonic(), 0)
        self._rate = 0.0
        self._console = terminal()
        self._screen = Screen(console=self._console, auto_refresh=False, transient=True)

    def tell(self, rows: list[dict[str, Any]]) -> None:
        """Put one released window at the end."""
        self._rows += rows

    def say(self, sentence: str) -> None:
        """Put a sentence below the table."""
        self._sentences.append(shown(sentence))

    def refresh(self, progress: Progress) -> None:
        """Draw, a few times a second."""
        now = time.monotonic()
        if now - self._drawn < 0.25:
            return
        self._drawn = now
        self._screen.start()  # once; again it does nothing
        since, records = self._before
        if now - since >= 1.0:
            self._rate = (progress.owner.records - records) / (now - since)
            self._before = (now, progress.owner.records)
        self._screen.update(self._drawing(progress), refresh=True)

    def close(self, progress: Progress) -> None:
        """Leave the last table on the terminal."""
        self._screen.stop()
        self._console.print(self._drawing(progress))
        self._console.print(_stopped(progress))

    def _drawing(self, progress: Progress) -> Group:
        columns = list(self._rows[-1]) if self._rows else ["window", "time"]
        table = Table(*map(shown, columns), title=Text(shown(self._title), style="bold"), title_justify="left")
        numbers = [cell for row in self._rows for cell in row.values() if isinstance(cell, float)]
        form = number_format(numbers) if numbers else ",.0f"
        for row in self._rows:
            table.add_row(*(_cell(row[name], form) for name in columns))
        owner = progress.owner
        waiting = "not known" if owner.waiting is None else f"{owner.waiting:,}"
        state = f"next window {progress.next_window:,}; budget left {1 - progress.share:.1%}"
        private = f"for the owner only: {self._rate:,.0f} records/s, waiting {waiting}; {_figures(progress)}"
        waits = [Text(f"waits: {wait}", style="yellow") for wait in progress.waits]
        return Group(table, Text(state), *waits, Text(private, style="dim"), *(Text(one) for one in self._sentences))


def _cell(cell: Any, form: str) -> str:
    if isinstance(cell, float):
        return number_text(cell, form)
    return "–" if cell is None else shown(cell)


def _figures(progress: Progress) -> str:
    owner = progress.owner
    return (
        f"{owner.counted:,} records counted; left out: {owner.late:,} late, {owner.future:,} dated too far ahead, "
        f"{owner.elsewhere:,} of other groups or times, {owner.malformed:,} unreadable; gaps noticed: {owner.missing:,}"
    )


def _stopped(progress: Progress) -> str:
    return f"stopped after {progress.closed:,} windows; started again it goes on with window {progress.next_window:,}"
