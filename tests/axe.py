"""What axe finds in a page that someone could not use."""

from __future__ import annotations

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

from tests.conftest import SCALE

__all__ = ["faults"]

# Of all that axe tells, only what is wrong leaves the page: the rest is long, and takes a while to write down. Rows
# that are two before them in their table but for the words are left out, unless all are asked for.
_FAULTS = """([options, all]) => {
  const repeated = (table) => {
    const seen = new Map();
    return [...table.rows].filter((row) => {
      const shape = row.outerHTML.replace(/>[^<]{2,}(?=<)/g, ">words");
      seen.set(shape, (seen.get(shape) ?? 0) + 1);
      return seen.get(shape) > 2;
    });
  };
  const exclude = all ? [] : [...document.querySelectorAll("tbody")].flatMap(repeated);
  const told = ({ id, nodes }) => `${id}: ${JSON.stringify(nodes.slice(0, 3).map(({ target }) => target))}`;
  return axe.run({ exclude }, options).then(({ violations }) => violations.map(told));
}"""


def faults(tab: Page, *, only: str | None = None) -> list[str]:
    """Return whatever axe finds, however slight; a page keeps axe from one call to the next."""
    if not tab.evaluate("'axe' in window"):
        tab.evaluate(AXE_SCRIPT)
    options = {"resultTypes": ["violations"]} | ({"runOnly": [only]} if only else {})
    found: list[str] = tab.evaluate(_FAULTS, [options, SCALE >= 1])
    return found
