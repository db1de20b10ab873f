"""Tables on the terminal: names and cells are data, and are shown as they are."""

from __future__ import annotations

import io

import pandas as pd
from rich.console import Console

from chronodp.cli.terminal import table_of


def test_brackets_in_data_are_no_markup() -> None:
    frame = pd.DataFrame({"[/a]": ["[/x]", "[bold]b"], "value": [1.5, 2.5]})
    console = Console(record=True, width=80, file=io.StringIO())
    console.print(table_of(frame, "rows"))
    text = console.export_text()
    for part in ("[/a]", "[/x]", "[bold]b", "1.5"):
        assert part in text
