"""``python -m chronodp.schemas``: write every schema anew, beside this file."""

from __future__ import annotations

from pathlib import Path

from chronodp.schemas.documents import schema_texts
from chronodp.schemas.stored import ENDING

__all__: list[str] = []

if __name__ == "__main__":
    folder = Path(__file__).parent
    for old in folder.glob(f"*{ENDING}"):
        old.unlink()
    for name, text in schema_texts().items():
        (folder / f"{name}{ENDING}").write_text(text, encoding="utf-8")
