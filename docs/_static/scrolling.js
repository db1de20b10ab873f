// Whatever is wider than the page scrolls by itself. Only then a keyboard has to reach it.
"use strict";

function reach() {
  for (const box of document.querySelectorAll("pre, .table-wrapper, div.math")) {
    if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

addEventListener("load", reach);
addEventListener("resize", reach);
