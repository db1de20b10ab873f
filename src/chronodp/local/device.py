"""A device's side: perturbs a value, pays for it on disk, and never tells it.

One file, standard library only: copy it to a device together with a plan. It imports nothing else of its package, and
its own errors stand in for the package's.

A plan is made of whole numbers. Every answer is drawn from them with `secrets`; no float decides anything. A state file
holds what was spent, the answers that are kept for life and the last report. It is replaced as a whole, with its
charge, before a report is handed out: after a kill at any moment either nothing was told, or what was told is paid.

    start("me.json", plan)
    report = Device("me.json", plan).send(value, slot=3)      # None: this device is silent in this slot

Refusals name what is wrong and never the value. Nothing is logged.

The proof is ``docs/explanation/proofs/local.md`` of the library: `_draw` is its table "One report", `answer` is "Over
time", `Device.send` and `_write` are "The device". A report as a record, numbers with their least byte first:

    0 … 1      the letters cd
    2          version
    3 … 10     name of the plan
    11 … 14    slot
    15 … 30    id
    31 …       answer: 4 bytes, 12 of a hash, 8 of a number, or a bit for each value of unary encoding
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import secrets
import struct
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Protocol

__all__ = [
    "LAST_SLOT",
    "VERSION",
    "Chance",
    "Device",
    "Refused",
    "SecretChance",
    "answer",
    "begin",
    "digest",
    "start",
    "to_bytes",
    "to_json",
]

VERSION = 1
LAST_SLOT = 2**32 - 1

_HEAD = struct.Struct("<2sB8sI16s")  # mark, version, plan, slot, id
_MARK = b"cd"
_PROTOCOLS = ("fresh", "slots", "memoised", "window")
_LARGEST_EPSILON = 100  # beyond it an answer is as good as the truth
_NUMBERS = {  # whole numbers that each kind of table and protocol is made of
    "choice": ("choices", "keep", "whole"),
    "unary": ("choices", "held", "other", "whole"),
    "hashing": ("choices", "prime", "buckets", "keep", "whole"),
    "bit": ("steps", "keep", "whole"),
    "piecewise": ("outputs", "window", "inside", "whole"),
    "hybrid": ("whole",),
    "laplace": ("steps",),
    "fresh": ("horizon",),
    "slots": ("horizon", "reports"),
    "memoised": ("horizon", "max_values", "keep", "whole", "keep_again", "whole_again"),
    "window": ("window", "reports"),
}
_MOST = {
    "horizon": 2**20,
    "choices": 2**31,
    "whole": 2**128,
    "whole_again": 2**128,
}  # so that no plan keeps a device busy
_REMEMBERED: dict[str, dict[str, type]] = {  # what the state of each protocol holds beside its budget
    "fresh": {},
    "slots": {"slots": list},
    "memoised": {"memo": dict},
    "window": {"recent": list},
}


class Refused(Exception):
    """The device does not answer; nothing was spent or reported.

    Attributes:
        about: what is wrong: "value", "slot", "budget", "state" or "plan".
    """

    def __init__(self, about: str, why: str) -> None:
        self.about = about
        super().__init__(f"{about}: {why}")


class Chance(Protocol):
    """What a device may draw. An auditor puts its own in the place of `SecretChance` and walks every outcome."""

    def coin(self, numerator: int, denominator: int) -> bool:
        """Return True with probability numerator / denominator."""
        ...

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to bound - 1, all alike."""
        ...

    def decay(self, numerator: int, denominator: int) -> bool:
        """Return True with probability e^-(numerator / denominator)."""
        ...


class SecretChance:
    """Draws from the operating system's secrets, each exactly as stated."""

    def coin(self, numerator: int, denominator: int) -> bool:
        """Return True with probability numerator / denominator."""
        return secrets.randbelow(denominator) < numerator

    def below(self, bound: int) -> int:
        """Return a whole number from 0 to bound - 1, all alike."""
        return secrets.randbelow(bound)

    def decay(self, numerator: int, denominator: int) -> bool:
        """Return True with probability e^-(numerator / denominator), by rational coins alone.

        e^-x for x up to 1 is the chance that the first False among coins of x, x/2, x/3, ... comes at an odd place
        (von Neumann 1951).
        """
        while numerator > denominator:
            if not self.decay(1, 1):
                return False
            numerator -= denominator
        place = 1
        while self.coin(numerator, denominator * place):
            place += 1
        return place % 2 == 1


def digest(plan: Mapping[str, Any]) -> str:
    """Return the name of a plan in reports and state files: 16 hexadecimal digits of its content."""
    try:
        text = json.dumps(plan, sort_keys=True, separators=(",", ":"), allow_nan=False)
    except (ValueError, TypeError, RecursionError):
        raise Refused("plan", "it is no plan that JSON can hold") from None
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def begin(plan: Mapping[str, Any], chance: Chance) -> dict[str, Any]:
    """Return the state of a device that has told nothing yet; what is kept for life is drawn here."""
    protocol = _protocol(plan)
    state: dict[str, Any] = {"plan": digest(plan), "spent": 0, "slot": -1, "report": None}
    match protocol["kind"]:
        case "slots":
            # A uniform choice: each slot is kept with the chance that the rest of the choice leaves it.
            left, chosen = protocol["reports"], []
            for slot in range(protocol["horizon"]):
                if left and chance.coin(left, protocol["horizon"] - slot):
                    chosen.append(slot)
                    left -= 1
            state["slots"] = chosen
        case "memoised":
            state["memo"] = {}
            if plan["mechanism"]["kind"] == "bit":
                state["threshold"] = chance.below(plan["mechanism"]["steps"])
        case "window":
            state["recent"] = []
            if protocol["phased"]:
                state["phase"] = chance.below(protocol["window"])
    return state


def answer(
    plan: Mapping[str, Any], state: Mapping[str, Any], value: object, slot: object, chance: Chance
) -> tuple[dict[str, Any], list[int] | None]:
    """Return the state after one slot and the answer for it; None for a slot in which the device is silent.

    The state must be on disk before the answer is told. Whether a device is silent never depends on values that the
    plan takes; a value outside them is refused, which a collector sees as silence.
    """
    protocol, table = _protocol(plan), plan["mechanism"]
    place = _place(table, value)
    when = _slot(state, slot)
    after = {**state, "slot": when, "report": None}
    match protocol["kind"]:
        case "fresh":
            _within(protocol, when)
            _pay(after, protocol["horizon"])
            return after, _draw(table, place, chance)
        case "slots":
            _within(protocol, when)
            if when not in state["slots"]:
                return after, None
            _pay(after, protocol["reports"])
            return after, _draw(table, place, chance)
        case "memoised":
            _within(protocol, when)
            _pay(after, protocol["horizon"])
            after["memo"] = dict(state["memo"])  # the state before stays as it was: what is told must be written first
            return after, [_remember(protocol, table, after, place, chance)]
        case "window":
            if protocol["phased"] and when % protocol["window"] != state["phase"]:
                return after, None
            # The window that ends now is when - w + 1 … when: a report w slots ago is no longer in it.
            recent = [past for past in state["recent"] if past > when - protocol["window"]]
            if len(recent) >= protocol["reports"]:
                raise Refused("budget", f"{len(recent)} reports within {protocol['window']} slots are all there may be")
            if protocol["reports"] < protocol["window"]:  # otherwise slots that only go forward cannot be too many
                after["recent"] = [*recent, when]
            after["spent"] += 1
            return after, _draw(table, place, chance)
        case _:
            raise Refused("plan", "its protocol is not known to this device")


def start(path: str | Path, plan: Mapping[str, Any], *, chance: Chance | None = None) -> None:
    """Write the state of a device that has told nothing yet. A state that exists is never overwritten."""
    place = _real(path)
    _check_odds(plan)
    with _locked(place):
        if place.exists():
            raise Refused("state", "there is one already; a budget is not begun twice")
        _write(place, begin(plan, chance or SecretChance()))


class Device:
    """A device with its durable budget.

    Args:
        path: its state file, written by `start`.
        plan: what it was asked to take part in.
        chance: where draws come from; an auditor's own in tests.
    """

    def __init__(self, path: str | Path, plan: Mapping[str, Any], *, chance: Chance | None = None) -> None:
        self._path = _real(path)
        self._plan = plan
        self._chance = chance or SecretChance()
        _check_odds(plan)
        self._read()

    @property
    def spent(self) -> int:
        """How many reports were paid for so far."""
        return int(self._read()["spent"])

    def send(self, value: object, *, slot: int) -> dict[str, Any] | None:
        """Return the report for one slot, paid for and on disk; None if the device is silent in it.

        Asked again for the slot it answered last, it returns the same report and pays nothing. Earlier slots are
        refused: a clock that goes back earns no second answer.
        """
        with _locked(self._path):
            state = self._read()
            if isinstance(slot, int) and slot >= 0 and slot == state["slot"]:
                kept: dict[str, Any] | None = state["report"]
                return kept
            after, made = answer(self._plan, state, value, slot, self._chance)
            report = None
            if made is not None:
                shown = {"version": VERSION, "plan": after["plan"], "slot": slot}
                report = {**shown, "id": secrets.token_hex(16), "answer": made}
            after["report"] = report
            _write(self._path, after)
            return report

    def __repr__(self) -> str:
        return f"Device({digest(self._plan)})"

    def _read(self) -> dict[str, Any]:
        try:
            # A second name would keep the old state when this one is replaced: two budgets.
            if os.stat(self._path).st_nlink > 1:
                raise Refused("state", "its file has a second name (a hard link); a budget has one")
            text = self._path.read_text(encoding="utf-8")
        except FileNotFoundError:
            raise Refused("state", "there is none yet; start() writes it once") from None
        except (OSError, UnicodeDecodeError):
            raise Refused("state", "its file cannot be read") from None
        seal, _, body = text.partition("\n")
        if seal != hashlib.sha256(body.encode()).hexdigest():
            raise Refused("state", "its file is damaged; without it the device may not report")
        state: dict[str, Any] = {}
        try:
            state = json.loads(body)
            other, sound = state["plan"] != digest(self._plan), _is_state(state, self._plan)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            other = sound = False
        if other:
            raise Refused("state", "it belongs to another plan; each plan has its own budget")
        if not sound:
            raise Refused("state", "its file is damaged; without it the device may not report")
        return state


def to_json(report: Mapping[str, Any]) -> str:
    """Return a report as one line of JSON."""
    return json.dumps(report, sort_keys=True, separators=(",", ":"))


def to_bytes(report: Mapping[str, Any], plan: Mapping[str, Any]) -> bytes:
    """Return a report as a record whose length the plan fixes: mark, version, plan, slot, id, answer."""
    name, number = bytes.fromhex(report["plan"]), bytes.fromhex(report["id"])
    head = _HEAD.pack(_MARK, report["version"], name, report["slot"], number)
    made = report["answer"]
    match plan["mechanism"]["kind"]:
        case "choice":
            return head + struct.pack("<I", *made)
        case "unary":
            return head + bytes(made)
        case "hashing":
            return head + struct.pack("<III", *made)
        case _:
            return head + struct.pack("<q", *made)


def _is_state(state: Mapping[str, Any], plan: Mapping[str, Any]) -> bool:
    """Tell whether a state has what the plan's protocol remembers."""
    protocol, bit = plan["protocol"], plan["mechanism"]["kind"] == "bit"
    numbers = ["spent", "slot", *(["phase"] if protocol.get("phased") else [])]
    if protocol["kind"] == "memoised":
        numbers += ["threshold"] if bit else []
    held = [(state[name], kind) for name, kind in _REMEMBERED[protocol["kind"]].items()]
    inner = [number for part, kind in held for number in (part.values() if kind is dict else part)]
    return (
        all(isinstance(part, kind) for part, kind in held)
        and all(type(number) is int for number in (*(state[name] for name in numbers), *inner))
        and state["spent"] >= 0
        and isinstance(state["report"], dict | None)
    )


def _protocol(plan: Mapping[str, Any]) -> Mapping[str, Any]:
    if not isinstance(plan, Mapping) or plan.get("format") != "chronodp device plan" or plan.get("version") != VERSION:
        raise Refused("plan", f"not a device plan of version {VERSION}")
    protocol = plan.get("protocol")
    if not isinstance(protocol, Mapping) or protocol.get("kind") not in _PROTOCOLS:
        raise Refused("plan", "its protocol is not known to this device")
    return protocol


def _check_odds(plan: Mapping[str, Any]) -> None:
    """Refuse a plan whose table tells more than the plan states, or is of a kind that is not known."""
    protocol = _protocol(plan)
    try:
        table, stated = plan["mechanism"], Fraction(plan["epsilon"]["report"])
        _check_numbers(protocol)
        _check_numbers(table)
        if not 0 < stated <= _LARGEST_EPSILON or (
            protocol["kind"] == "window" and type(protocol["phased"]) is not bool
        ):
            raise ValueError
        sound = _tells_at_most(table, stated)
        if plan["protocol"]["kind"] == "memoised":
            sound = _kept_tells_at_most(plan["protocol"], 2 if table["kind"] == "bit" else table["choices"], stated)
    except (KeyError, TypeError, ValueError, AttributeError, ArithmeticError):
        raise Refused("plan", "its table is damaged") from None
    if not sound:
        raise Refused("plan", "its table tells more than it states")


def _check_numbers(part: Mapping[str, Any]) -> None:
    """Raise unless a table or protocol has all its numbers, none of them larger than a plan needs."""
    kind = part["kind"]
    if kind not in _NUMBERS:
        raise Refused("plan", "its mechanism is not known to this device")
    if not all(type(part[name]) is int and 0 < part[name] <= _MOST.get(name, 2**64) for name in _NUMBERS[kind]):
        raise ValueError
    if kind in ("bit", "piecewise", "laplace"):
        low, high = part["lower"], part["upper"]
        # The width too: a value's place in it is what is drawn from.
        if not math.isfinite(low) or not math.isfinite(high) or not 0 < high - low < math.inf:
            raise ValueError
    if kind == "unary" and part["choices"] > _MOST["horizon"]:  # one draw for each
        raise ValueError
    if kind == "laplace":
        numerator, denominator = part["scale"]
        if not all(type(one) is int for one in (numerator, denominator, part["least"], part["most"])):
            raise ValueError
        if not 0 < numerator <= 2**1200 or not 0 < denominator <= 2**1200:
            raise ValueError
    if kind == "hybrid":
        if [one["kind"] for one in part["parts"]] != ["piecewise", "bit"] or type(part["share"]) is not int:
            raise ValueError
        for one in part["parts"]:
            _check_numbers(one)
        first, second = ((one["lower"], one["upper"]) for one in part["parts"])
        if first != second:  # the value is checked against one of them
            raise ValueError


def _tells_at_most(table: Mapping[str, Any], epsilon: Fraction) -> bool:
    """Tell whether the worst odds of one fresh answer are at most e^epsilon."""
    match table["kind"]:
        case "choice" | "hashing" | "bit":
            others = {"choice": "choices", "hashing": "buckets"}.get(table["kind"])
            lies = (1 - Fraction(table["keep"], table["whole"])) / ((table[others] if others else 2) - 1)
            return _at_most(Fraction(table["keep"], table["whole"]), lies, epsilon)
        case "unary":
            held, other = (Fraction(table[name], table["whole"]) for name in ("held", "other"))
            return _at_most(held * (1 - other), other * (1 - held), epsilon)
        case "piecewise":
            inside, wide = Fraction(table["inside"], table["whole"]), table["window"]
            return _at_most(inside / wide, (1 - inside) / (table["outputs"] - wide), epsilon)
        case "hybrid":
            return all(_tells_at_most(part, epsilon) for part in table["parts"])
        case "laplace":
            return bool(Fraction(*table["scale"]) * epsilon >= table["steps"])
    raise Refused("plan", "its mechanism is not known to this device")


def _kept_tells_at_most(protocol: Mapping[str, Any], choices: int, epsilon: Fraction) -> bool:
    """Tell whether the worst odds of the first answer around a kept one are at most e^epsilon."""
    keep = Fraction(protocol["keep"], protocol["whole"])
    again = Fraction(protocol["keep_again"], protocol["whole_again"])
    lie, other = (1 - keep) / (choices - 1), (1 - again) / (choices - 1)
    held = keep * again + (1 - keep) * other
    return _at_most(held, keep * other + lie * again + (choices - 2) * lie * other, epsilon)


def _at_most(one: Fraction, other: Fraction, epsilon: Fraction) -> bool:
    """Tell whether the odds of two chances, either way, are at most e^epsilon; a lower bound of it decides."""
    if not min(one, other) > 0:
        return False
    # (1 + x + ... + x^n / n!)^m with x = epsilon / m is below e^epsilon, here by less than one part in 10^20.
    halvings = max(0, math.ceil(epsilon)).bit_length()
    part = epsilon / 2**halvings
    term = total = Fraction(1)
    for number in range(1, 24):
        term = term * part / number
        total += term
    return bool(max(one / other, other / one) <= total ** (1 << halvings))


def _slot(state: Mapping[str, Any], slot: object) -> int:
    if isinstance(slot, bool) or not isinstance(slot, int) or not 0 <= slot <= LAST_SLOT:
        raise Refused("slot", f"a whole number from 0 to {LAST_SLOT} is needed")
    if slot <= state["slot"]:
        raise Refused("slot", f"slot {state['slot']} was the last; a clock that goes back earns no second answer")
    return slot


def _within(protocol: Mapping[str, Any], slot: int) -> None:
    if slot >= protocol["horizon"]:
        raise Refused("slot", f"the plan ends after {protocol['horizon']} slots")


def _pay(state: dict[str, Any], budget: int) -> None:
    if state["spent"] >= budget:
        raise Refused("budget", f"all {budget} reports are spent")
    state["spent"] += 1


def _place(table: Mapping[str, Any], value: object) -> int | float:
    """Return a value that the mechanism takes, or refuse without telling it."""
    if "choices" in table:
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < table["choices"]:
            raise Refused("value", f"a whole number from 0 to {table['choices'] - 1} is needed")
        return value
    ends = table["parts"][0] if table["kind"] == "hybrid" else table
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise Refused("value", "a number is needed")
    if not ends["lower"] <= value <= ends["upper"]:  # false for what is not a number, too
        raise Refused("value", f"a number from {ends['lower']:g} to {ends['upper']:g} is needed")
    return float(value)


def _step(table: Mapping[str, Any], value: float, steps: int) -> int:
    scaled: float = (value - table["lower"]) / (table["upper"] - table["lower"]) * steps
    return min(math.floor(scaled + 0.5), steps)


def _draw(table: Mapping[str, Any], place: int | float, chance: Chance) -> list[int]:
    """Return one fresh answer."""
    match table["kind"]:
        case "choice":
            return [_respond(int(place), table["choices"], table["keep"], table["whole"], chance)]
        case "unary":
            packed = bytearray(-(-table["choices"] // 8))
            for bit in range(table["choices"]):
                chosen = table["held"] if bit == place else table["other"]
                # Bit v mod 8 of byte v // 8, as in the library's packed coins.
                packed[bit // 8] |= chance.coin(chosen, table["whole"]) << bit % 8
            return list(packed)
        case "hashing":
            multiplier, shift = chance.below(table["prime"]), chance.below(table["prime"])
            held = (multiplier * int(place) + shift) % table["prime"] % table["buckets"]
            return [multiplier, shift, _respond(held, table["buckets"], table["keep"], table["whole"], chance)]
        case "bit":
            side = _step(table, place, table["steps"]) > chance.below(table["steps"])
            return [_respond(int(side), 2, table["keep"], table["whole"], chance)]
        case "piecewise":
            first = _step(table, place, table["outputs"] - table["window"])
            if chance.coin(table["inside"], table["whole"]):
                return [first + chance.below(table["window"])]
            other = chance.below(table["outputs"] - table["window"])
            return [other + table["window"] * (other >= first)]
        case "hybrid":
            pieces, bits = table["parts"]
            if chance.coin(table["share"], table["whole"]):
                return _draw(pieces, place, chance)
            return [-1 - _draw(bits, place, chance)[0]]
        case "laplace":
            made = _step(table, place, table["steps"]) + _laplace(table["scale"], chance)
            return [min(max(made, table["least"]), table["most"])]
        case _:
            raise Refused("plan", "its mechanism is not known to this device")


def _respond(held: int, choices: int, keep: int, whole: int, chance: Chance) -> int:
    if chance.coin(keep, whole):
        return held
    other = chance.below(choices - 1)
    return other + (other >= held)


def _laplace(scale: Sequence[int], chance: Chance) -> int:
    """Return ⌊s Z + 1/2⌋ for a Laplace variate Z, where s = numerator / denominator."""
    numerator, denominator = scale
    # |s Z| < 1/2 rounds to 0, with chance 1 - e^(-1/2s); beyond, sizes are geometric, since Z has no memory.
    if not chance.decay(denominator, 2 * numerator):
        return 0
    size = 1 + _geometric(numerator, denominator, chance)
    return size if chance.coin(1, 2) else -size


def _geometric(numerator: int, denominator: int, chance: Chance) -> int:
    """Return a number that is at least g with probability e^-(g denominator / numerator)."""
    while True:
        fine = chance.below(numerator)
        if chance.decay(fine, numerator):
            break
    coarse = 0
    while chance.decay(1, 1):
        coarse += 1
    # fine + numerator · coarse is at least n with chance e^(-n / numerator); whole denominators of it are counted.
    return (fine + numerator * coarse) // denominator


def _remember(
    protocol: Mapping[str, Any], table: Mapping[str, Any], state: dict[str, Any], place: int | float, chance: Chance
) -> int:
    """Return an answer drawn around the one that is kept for this value, which is drawn when it first occurs.

    Values beyond the first ``max_values`` distinct ones get a kept answer that does not depend on them.
    """
    choices = 2 if table["kind"] == "bit" else table["choices"]
    held = int(_step(table, place, table["steps"]) > state["threshold"]) if table["kind"] == "bit" else int(place)
    memo = state["memo"]
    if str(held) not in memo:
        if len(memo) < protocol["max_values"]:
            memo[str(held)] = _respond(held, choices, protocol["keep"], protocol["whole"], chance)
        else:
            memo[str(held)] = chance.below(choices)
    return _respond(memo[str(held)], choices, protocol["keep_again"], protocol["whole_again"], chance)


def _real(path: str | Path) -> Path:
    """Return where a state really is, so that a link to it is the same budget under the same lock."""
    return Path(os.path.realpath(path))


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Let one process at a time work on a state; the system lifts the lock when its holder dies."""
    try:
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT, 0o600)
    except OSError:
        raise Refused("state", "its folder cannot be written") from None
    try:
        if os.name == "nt":
            import msvcrt

            msvcrt.locking(handle, msvcrt.LK_LOCK, 1)  # type: ignore[attr-defined]  # there on Windows only
        else:
            import fcntl

            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def _write(path: Path, state: Mapping[str, Any]) -> None:
    """Replace the state file as a whole; when this returns, the new one survives a crash of the machine."""
    body = json.dumps(state, sort_keys=True)
    fresh = f"{path}.new"
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(f"{hashlib.sha256(body.encode()).hexdigest()}\n{body}")
            file.flush()
            os.fsync(file.fileno())
        os.replace(fresh, path)
        if os.name != "nt":
            folder = os.open(path.parent, os.O_RDONLY)
            try:
                os.fsync(folder)
            finally:
                os.close(folder)
    except OSError:
        raise Refused("state", "its file cannot be written; nothing was reported") from None
