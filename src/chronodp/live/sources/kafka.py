"""A Kafka topic, read from offsets that the stream itself keeps."""

from __future__ import annotations

import contextlib
import json
import time
from itertools import pairwise
from typing import Any

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.extras import check_extra
from chronodp.live.broker_terms import check_options, check_texts
from chronodp.live.records import Batch, Reader
from chronodp.privacy import check_kind

__all__ = ["KafkaSource"]

_PATIENCE = 3.0  # seconds for one question to the brokers
_LOOK = 30.0  # seconds after which partitions are looked for again
_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.5, 30.0


class KafkaSource:
    """All partitions of a topic. Where reading stands is kept with the counts; brokers are told of it afterwards.

    Args:
        topic: the topic.
        servers: brokers to begin with, such as 'localhost:9092'.
        reader: of the records.
        group: under which offsets are committed, for those who watch the lag.
        options: further settings of librdkafka, such as those of security.
    """

    prompt = False

    def __init__(
        self, topic: str, *, servers: str, reader: Reader, group: str, options: dict[str, Any] | None = None
    ) -> None:
        check_extra("live", "confluent_kafka")
        from confluent_kafka import Consumer, KafkaException

        check_texts(topic=topic, servers=servers, group=group)
        self._topic, self._reader = topic, check_kind("reader", reader, Reader, "a Reader")
        self._trouble = ""
        # Messages are read in batches; a small queue keeps memory flat while the consumer is behind.
        settings = {
            "bootstrap.servers": servers,
            "group.id": group,
            "enable.auto.commit": False,
            "enable.partition.eof": True,
            "auto.offset.reset": "earliest",
            "queued.max.messages.kbytes": 16_384,
            "fetch.wait.max.ms": 50,
            "reconnect.backoff.max.ms": 10_000,
            "log_level": 0,
        }
        try:
            self._consumer = Consumer(settings | check_options(options) | {"group.id": group, "error_cb": self._failed})
        except KafkaException as error:
            raise InvalidArgument("options", None, f"settings that librdkafka knows ({error.args[0].str()})") from None
        self._offsets: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._marks: dict[int, int] | None = None
        self._held: list[Any] = []
        self._fresh: set[int] = set()  # partitions of which nothing was read: wherever they begin, nothing is missing
        self._holes: dict[int, int] = {}  # partitions in which offsets were passed over, and from which one on
        self._gaps: list[str] = []
        self._uncommitted = False
        self._next_look = self._next_question = 0.0
        self._pause = _SHORTEST_PAUSE

    @property
    def trouble(self) -> str:
        """Why nothing comes."""
        return self._trouble

    @property
    def waiting(self) -> int | None:
        """How many messages lay in the topic beyond what was read, when it was last asked."""
        if not self._ends:
            return None
        return sum(max(0, end - self._offsets.get(partition, 0)) for partition, end in self._ends.items())

    @property
    def positions(self) -> str:
        """The next offset of each partition."""
        return json.dumps({str(partition): offset for partition, offset in sorted(self._offsets.items())})

    def begin(self, positions: str, *, key: bytes = b"") -> None:  # noqa: ARG002 (nothing is stored of messages)
        """Read on from known offsets; partitions without one from their beginning."""
        self._offsets = {int(name): offset for name, offset in json.loads(positions or "{}").items()}
        self._look()

    def read(self, most: int, *, wait: float) -> Batch:
        """Return the records of the next messages, none beyond the mark."""
        if time.monotonic() >= self._next_look:
            self._look()
        arrived = [message for message in self._held if self._came_before_mark(message)]
        if arrived:
            self._held = [message for message in self._held if not self._came_before_mark(message)]
        elif not self.at_mark:
            arrived = self._consumer.consume(most, wait)
        return self._reader.read(self._take(arrived))

    def mark(self) -> bool:
        """Ask the brokers where each partition ends."""
        from confluent_kafka import KafkaException

        if not self._offsets or time.monotonic() < self._next_question:
            return False
        try:
            spans = {partition: self._span(partition) for partition in self._offsets}
        except KafkaException:
            self._fail("cannot be reached")
            return False
        for partition, (low, high) in spans.items():
            self._compare(partition, low, high)
        self._trouble, self._pause = "", _SHORTEST_PAUSE
        self._marks = {partition: high for partition, (_, high) in spans.items()}
        self._ends = dict(self._marks)
        return True

    @property
    def at_mark(self) -> bool:
        """Whether every partition was read up to its mark."""
        marks = self._marks
        return marks is not None and all(self._offsets[partition] >= mark for partition, mark in marks.items())

    def unmark(self) -> None:
        """Let reading go on."""
        self._marks = None

    def take_gaps(self) -> list[str]:
        """Return where messages were deleted before they were read, or the topic was made anew."""
        taken, self._gaps = self._gaps, []
        return taken

    def confirm(self) -> None:
        """Commit offsets, without waiting: the stream itself goes by its own."""
        from confluent_kafka import KafkaException, TopicPartition

        if not self._uncommitted:
            return
        self._uncommitted = False
        places = [TopicPartition(self._topic, partition, offset) for partition, offset in self._offsets.items()]
        with contextlib.suppress(KafkaException):
            self._consumer.commit(offsets=places, asynchronous=True)

    def close(self) -> None:
        """Leave."""
        self._consumer.close()

    def _take(self, arrived: list[Any]) -> list[bytes]:
        """Return the contents of messages before the mark; the rest waits."""
        from confluent_kafka import Message

        told = any(map(Message.error, arrived))  # of the end of a partition, or of an error
        ends = [at for at, message in enumerate(arrived) if message.error() is not None] if told else []
        taken: list[bytes] = []
        for begin, end in pairwise((-1, *ends, len(arrived))):  # in the order in which they came
            taken += self._take_run(arrived[begin + 1 : end])
            for one in arrived[end : end + 1]:
                self._notice_end(one)
        if taken:
            self._trouble, self._uncommitted = "", True
        return taken

    def _take_run(self, arrived: list[Any]) -> list[bytes]:
        """Return the contents of messages; together if none of them is held back, missing or known, as is usual."""
        from confluent_kafka import Message

        partitions = np.fromiter(map(Message.partition, arrived), np.int64, len(arrived))
        offsets = np.fromiter(map(Message.offset, arrived), np.int64, len(arrived))
        spans = []
        for partition in np.unique(partitions).tolist():
            mine = offsets[partitions == partition]
            first, last = int(mine[0]), int(mine[-1])
            marked = self._marks is None or last < self._marks.get(partition, 0)
            if not marked or first < self._offsets.get(partition, 0) or np.any(np.diff(mine) != 1):
                return self._take_singly(arrived)
            spans.append((partition, first, last))
        for partition, first, last in spans:
            self._pass(partition, first)
            self._offsets[partition] = last + 1
        return [content or b"" for content in map(Message.value, arrived)]

    def _take_singly(self, arrived: list[Any]) -> list[bytes]:
        taken: list[bytes] = []
        marks, offsets = self._marks, self._offsets
        for message in arrived:
            partition, offset = message.partition(), message.offset()
            if marks is not None and offset >= marks.get(partition, 0):
                self._held.append(message)
            elif offset >= offsets.get(partition, 0):  # nothing twice, also if a broker sends it twice
                self._pass(partition, offset)
                offsets[partition] = offset + 1
                taken.append(message.value() or b"")
        return taken

    def _notice_end(self, told: Any) -> None:
        """At the end of a partition nothing is left before it, also where the last entries are no messages."""
        from confluent_kafka import KafkaError

        partition = told.partition()
        held = any(other.partition() == partition for other in self._held)
        if told.error().code() == KafkaError._PARTITION_EOF and partition in self._offsets and not held:
            self._pass(partition, told.offset())

    def _pass(self, partition: int, offset: int) -> None:
        """Go on to an offset. What is passed over was no message, or was deleted: the next mark says which."""
        expected = self._offsets.get(partition, 0)
        if offset > expected and partition not in self._fresh:
            self._holes.setdefault(partition, expected)
        self._fresh.discard(partition)
        self._offsets[partition] = max(expected, offset)

    def _compare(self, partition: int, low: int, high: int) -> None:
        """Notice messages that were deleted before they were read, and a topic that is not the one that was read."""
        from confluent_kafka import TopicPartition

        if self._is_another(partition, low, high):
            self._held = [message for message in self._held if message.partition() != partition]
            self._holes.pop(partition, None)
            self._consumer.incremental_unassign([TopicPartition(self._topic, partition)])
            self._consumer.incremental_assign([TopicPartition(self._topic, partition, low)])
        elif low > self._holes.pop(partition, low):
            self._report_deleted(partition)

    def _compare_at_first(self, partition: int) -> None:
        """The same before anything was fetched: what lies before the beginning will not come any more."""
        low, high = self._span(partition)
        if not self._is_another(partition, low, high) and low > self._offsets[partition]:
            self._report_deleted(partition)
            self._offsets[partition] = low

    def _is_another(self, partition: int, low: int, high: int) -> bool:
        if high >= self._offsets[partition]:
            return False
        self._gaps.append(f"partition {partition} is shorter than what was read of it: was the topic made anew?")
        self._offsets[partition] = low
        return True

    def _report_deleted(self, partition: int) -> None:
        self._gaps.append(f"messages of partition {partition} were deleted before they were read")

    def _span(self, partition: int) -> tuple[int, int]:
        """Return where a partition begins and ends, as the brokers say now."""
        from confluent_kafka import KafkaException, TopicPartition

        place = TopicPartition(self._topic, partition)
        found: tuple[int, int] | None = self._consumer.get_watermark_offsets(place, timeout=_PATIENCE, cached=False)
        if found is None:
            raise KafkaException
        return found

    def _came_before_mark(self, message: Any) -> bool:
        return self._marks is None or message.offset() < self._marks.get(message.partition(), 0)

    def _look(self) -> bool:
        """Find the topic's partitions, and read those that are new."""
        from confluent_kafka import KafkaException, TopicPartition

        try:
            found = self._consumer.list_topics(self._topic, timeout=_PATIENCE).topics[self._topic]
            if found.error is not None or not found.partitions:
                self._fail("are there, but not the topic")
                return False
            known = {place.partition for place in self._consumer.assignment()}
            new = [partition for partition in found.partitions if partition not in known]
            for partition in new:
                if partition in self._offsets and partition not in self._fresh:
                    self._compare_at_first(partition)
                else:
                    self._fresh.add(partition)
                    self._offsets[partition] = 0
        except KafkaException:
            self._fail("cannot be reached")
            return False
        self._trouble, self._pause = "", _SHORTEST_PAUSE
        self._next_look = time.monotonic() + _LOOK
        if new:
            places = [TopicPartition(self._topic, partition, self._offsets[partition]) for partition in new]
            self._consumer.incremental_assign(places)
        return True

    def _fail(self, what: str) -> None:
        self._trouble = f"the brokers {what}"
        self._next_look = self._next_question = time.monotonic() + self._pause
        self._pause = min(2 * self._pause, _LONGEST_PAUSE)

    def _failed(self, error: Any) -> None:
        from confluent_kafka import KafkaError

        if error.code() == KafkaError._ALL_BROKERS_DOWN:
            self._trouble = "the brokers cannot be reached"
