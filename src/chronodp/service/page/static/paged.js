// A list that the curator gives by pages: a table that grows by one page at a time.

import { make, say, table } from "./dom.js";
import { guarded } from "./refusal.js";

// `columns` may be a function of the rows so far, for a column that only some rows need.
export const pagedTable = async ({ api, path, signal, caption, columns, empty }) => {
  const place = make("div", {});
  const problem = make("div", {});
  const rows = [];
  const load = async (before) => {
    const cursor = before ? `${path.includes("?") ? "&" : "?"}before=${encodeURIComponent(before)}` : "";
    const { lines, next } = await api.page(path + cursor, signal);
    rows.push(...lines);
    const heads = typeof columns === "function" ? columns(rows) : columns;
    const more = make("button", { type: "button", class: "quiet" }, `Load more (${rows.length} so far)`);
    more.addEventListener("click", () =>
      guarded(problem, async () => {
        await load(next);
        say(`${rows.length} lines of ${caption}`);
        place.querySelector("button.quiet:last-of-type")?.focus();
      }),
    );
    place.replaceChildren(table(caption, heads, rows, empty, rows.length), ...(next ? [more] : []), problem);
  };
  await load();
  return place;
};
