"""People of a table: each in order of time, and none by another's rows."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from chronodp.federated.training import read_people, read_plan
from tests.cases import case
from tests.cli.clinics import MODEL, TOP

HEADER = "patient,hour,pulse,temperature,label"
PATIENTS = ("01", "1", "x, y")


@pytest.mark.slow
def test_rows_of_others_leave_a_person_as_they_are(tmp_path: Path) -> None:
    clock: str
    odd: str
    for clock in ["{}", "2026-01-{:02d}"]:
        for odd in ["", "z,3,70", "z,3,70,36.5,1,8,9", 'z,"3",many,36.5,0', "#"]:
            folder = Path(tempfile.mkdtemp(dir=tmp_path))
            with case(clock, odd):
                plan, table = folder / "people.toml", folder / "north.csv"
                plan.write_text(f'{TOP}{MODEL}[holders.north]\ndata = "north.csv"\npeople = 50\n', encoding="utf-8")
                rows = [
                    f'"{patient}",{clock.format(hour)},{60 + 10 * place + hour},36.5,{place % 2}'
                    for place, patient in enumerate(PATIENTS)
                    for hour in reversed(range(1, 13))
                ]
                table.write_text("\n".join([HEADER, odd, *rows]), encoding="utf-8")
                people = read_people(read_plan(plan), table)
                for place in range(len(PATIENTS)):
                    np.testing.assert_array_equal(people.values[place, :, 0], 60 + 10 * place + np.arange(1, 13))
                np.testing.assert_array_equal(people.targets[: len(PATIENTS)], [0, 1, 0])
