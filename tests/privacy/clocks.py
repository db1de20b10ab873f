"""Time zones, and what their clocks show, by the standard library."""

from __future__ import annotations

import datetime as dt
from zoneinfo import ZoneInfo

SECOND = 1_000_000
EPOCH = dt.datetime(1970, 1, 1, tzinfo=dt.UTC)
ELAPSED = {"s": 1, "min": 60, "h": 3600}
ZONES = [
    "UTC",
    "Europe/Berlin",
    "America/New_York",
    "Asia/Kolkata",
    "Asia/Kathmandu",
    "America/Sao_Paulo",
    "Australia/Lord_Howe",  # summer time of half an hour
    "America/Havana",  # clocks change at midnight, both ways
    "Africa/Cairo",
    "Africa/Casablanca",
    "Antarctica/Troll",  # summer time of two hours
    "Pacific/Kiritimati",
]


def on_the_clock(instant: int, zone: str) -> dt.datetime:
    return (EPOCH + dt.timedelta(microseconds=instant)).astimezone(ZoneInfo(zone))
