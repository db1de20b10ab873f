"""What says where a broker is and who asks, checked before any library sees it."""

from __future__ import annotations

from typing import Any

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_flag, check_kind, check_text, check_whole

__all__ = ["check_mqtt", "check_options", "check_texts"]


def check_texts(**texts: str) -> None:
    """Raise unless each is a text that is not empty."""
    for name, value in texts.items():
        if not check_text(name, value).strip():  # librdkafka ends the process over a group of spaces
            raise InvalidArgument(name, value, "a text that is not empty")


def check_mqtt(
    *, topic: str, host: str, port: int, client: str, username: str | None, password: str | None, secure: bool
) -> None:
    """Raise unless all says what it should. A password is told in no message."""
    check_texts(topic=topic, host=host, client=client)
    check_whole("port", port, most=65535)
    for name, value in (("username", username), ("password", password)):
        if value is not None:
            check_text(name, value, private=True)
    check_flag("secure", secure)


def check_options(options: dict[str, Any] | None) -> dict[str, Any]:
    """Return settings of the library by their names."""
    given = {} if options is None else check_kind("options", options, dict, "settings by name")
    for name in given:
        check_text("options", name)
    return dict(given)
