"""What a page holds, read without a browser."""

from __future__ import annotations

from html.parser import HTMLParser

__all__ = ["Reader"]


class Reader(HTMLParser):
    """Collects what a browser would see: tags with their attributes, text outside scripts, and scripts."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.scripts: list[str] = []
        self.unread = ""  # the script or style that is open: what Python calls such elements differs by its version
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("script", "style"):
            self.unread = tag
        if tag == "script":
            self.scripts.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag == self.unread:
            self.unread = ""

    def handle_data(self, data: str) -> None:
        if self.unread == "script":
            self.scripts[-1] += data
        elif not self.unread:
            self.text += data

    def policy(self) -> str:
        (content,) = [attributes["content"] for _, attributes in self.tags if "http-equiv" in attributes]
        return content or ""
