"""A release whose numbers stand beside its text, in one Arrow file: the text and its signed link are the metadata.

Any reader of Arrow shows the numbers, in steps of the release's grid; ours takes none that its text did not sign.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronodp.errors import CertificateInvalid, ChronodpError, InvalidArgument, UnknownDocument
from chronodp.ledger.certificates import SignedLink
from chronodp.ledger.numbers import Written, numbers_in, pack_part
from chronodp.reading import parse_json

if TYPE_CHECKING:
    import pyarrow

__all__ = ["ArrowRelease", "arrow_pieces", "is_arrow", "open_arrow", "release_of"]

_MAGIC = b"ARROW1"
_KEY = b"chronodp"
_COLUMN = "noisy"


class ArrowRelease:
    """An open file: the text and its link, and the numbers, read one part at a time."""

    def __init__(self, reader: pyarrow.RecordBatchFileReader, name: str) -> None:
        self._reader, self._name = reader, name
        metadata = reader.schema.metadata or {}
        self.text, self.signed = release_of(metadata.get(_KEY, b""), name)
        if [(one.name, str(one.type)) for one in reader.schema] != [(_COLUMN, "int64")]:
            raise UnknownDocument(f"{name} does not hold the numbers of a release: they are one column of int64")

    def contents(self) -> Iterator[memoryview]:
        """Return the bytes of each part, if it is the one that the text names in its place."""
        named = [(numbers, place) for numbers in numbers_in(self.text) for place in range(len(numbers.sha256))]
        found = self._reader.num_record_batches
        if found != len(named):
            raise CertificateInvalid(f"the release's numbers are {len(named)} parts, and {self._name} holds {found}")
        for position, (numbers, place) in enumerate(named):
            content = _bytes_of(self._reader, position, self._name)
            numbers.check(place, content)
            yield content

    def read(self) -> Written:
        """Return the release, every part of it checked."""
        return Written(self.text, tuple(map(pack_part, self.contents())))


@contextmanager
def open_arrow(source: Path | bytes, name: str) -> Iterator[ArrowRelease]:
    """Open a file, or the bytes of one; what is wrong in it is named without its content."""
    import pyarrow
    import pyarrow.ipc

    try:
        with pyarrow.BufferReader(source) if isinstance(source, bytes) else pyarrow.memory_map(str(source)) as file:
            yield ArrowRelease(pyarrow.ipc.open_file(file), name)
    except ChronodpError:
        raise
    except FileNotFoundError:
        raise InvalidArgument("path", name, "a file that can be read") from None
    except (pyarrow.ArrowException, OSError, ValueError, MemoryError):
        raise UnknownDocument(f"{name} is cut off or damaged: it is no whole Arrow file") from None


def is_arrow(beginning: bytes) -> bool:
    """Return whether a file that begins so is one of Arrow."""
    return beginning.startswith(_MAGIC)


def arrow_pieces(written: Written, signed: SignedLink) -> Iterator[bytes]:
    """Return the bytes of the file, a piece for each part, so that no more than that is held at once."""
    import pyarrow
    import pyarrow.ipc

    content = json.dumps({"release": written.text, "link": signed.to_dict()})
    field = pyarrow.field(_COLUMN, pyarrow.int64(), nullable=False)
    schema = pyarrow.schema([field], metadata={_KEY: content.encode()})
    sink = _Sink()
    options = pyarrow.ipc.IpcWriteOptions(compression="lz4")
    with pyarrow.ipc.new_file(pyarrow.PythonFile(sink, "w"), schema, options=options) as writer:
        for numbers in written.unpack():
            writer.write_batch(pyarrow.record_batch([pyarrow.array(numbers)], schema=schema))
            yield sink.take()
    yield sink.take()


def release_of(content: bytes, name: str) -> tuple[str, SignedLink]:
    """Return a release's text and its link from the JSON that holds both."""
    try:
        document = parse_json(content)
        text, link = document["release"], document["link"]
        if not isinstance(text, str):
            raise TypeError(text)
        return text, SignedLink(link["body"], link["signature"])
    except (ValueError, KeyError, TypeError):
        raise UnknownDocument(f"{name} does not hold a release") from None


def _bytes_of(reader: Any, position: int, name: str) -> memoryview:
    batch = reader.get_batch(position)
    batch.validate(full=True)
    column = batch.column(0)
    if column.null_count:
        raise UnknownDocument(f"{name} does not hold the numbers of a release: some are missing")
    return memoryview(column.to_numpy().astype("<i8", copy=False)).cast("B")


class _Sink(io.RawIOBase):
    """Bytes on their way: what was written since they were last taken."""

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._length = 0

    def writable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._length

    def write(self, piece: Any) -> int:
        self._pieces.append(bytes(piece))
        self._length += len(self._pieces[-1])
        return len(self._pieces[-1])

    def take(self) -> bytes:
        """Return them, and forget them."""
        pieces, self._pieces = self._pieces, []
        return b"".join(pieces)
