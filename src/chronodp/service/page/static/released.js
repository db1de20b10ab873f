// A released table, drawn and in full: lines with bands, one for each group, and every row beside them.

import { draw } from "./chart.js";
import { clock, count, make, number, table } from "./dom.js";

const MOST_LINES = 12;

// Where value, lower and upper stand; where an even loss was assumed, the same without limits. A drawn bin is shaded from
// value to value_to.
const startsOf = (columns) => {
  const at = (...names) => names.map((name) => columns.indexOf(name));
  if (columns.includes("value_to")) return [["", ...at("value", "value", "value_to")]];
  const own = at("value", "lower", "upper");
  return columns.includes("value_if_even")
    ? [["within limits", ...own], ["without, if even", ...at("value_if_even", "lower_if_even", "upper_if_even")]]
    : [["", ...own]];
};

const WORDS = { outside: "may be anything outside a gap", line: "may be anything", empty: "no value" };

// What stands beside a point that is no plain value in a plain interval.
const toldOf = (kind, why) => {
  if (why && !kind) return `not shown: ${why}`;
  if (!kind || kind === "interval") return "";
  return why ? `${WORDS[kind]}: ${why}` : WORDS[kind];
};

export const linesOf = ({ columns, rows }) => {
  const starts = startsOf(columns);
  const [kind, why] = ["kind", "why"].map((name) => columns.indexOf(name));
  const lines = new Map();
  for (const row of rows) {
    for (const [which, at, low, high] of starts) {
      const name = [...row.slice(1, starts[0][1]), ...(which ? [which] : [])].join(", ");
      if (!lines.has(name)) lines.set(name, { name, x: [], y: [], lower: [], upper: [], told: [] });
      const line = lines.get(name);
      line.x.push(typeof row[0] === "string" ? row[0].slice(0, 19) : row[0]);
      line.y.push(row[at]);
      // A set that is no interval has no band: what lies between its ends may be just what it leaves out.
      const whole = kind < 0 || row[kind] === "interval";
      line.lower.push(whole ? (row[low] ?? null) : null);
      line.upper.push(whole ? (row[high] ?? null) : null);
      line.told.push(why < 0 ? "" : toldOf(row[kind], row[why]));
    }
  }
  return [...lines.values()];
};

// Of more lines than can be told apart the largest are drawn, in their order; of bins the first.
const drawnOf = (lines, { columns }) => {
  if (lines.length <= MOST_LINES || columns.includes("bin_low")) return lines.slice(0, MOST_LINES);
  const total = ({ y }) => y.reduce((sum, value) => sum + (value ?? 0), 0);
  const largest = new Set([...lines].sort((one, other) => total(other) - total(one)).slice(0, MOST_LINES));
  return lines.filter((line) => largest.has(line));
};

export const showReleased = async (chart, place, found, { about, lines = linesOf(found) }) => {
  const drawn = drawnOf(lines, found);
  await draw(chart, drawn, { label: found.label, about, empty: `${found.note}.` });
  const last = found.columns.indexOf("value");
  const columns = found.columns.map((label, at) => {
    if (["kind", "why", "per"].includes(label)) return { label, cell: (row) => row[at] ?? "–" };
    if (at >= last) return { label, numeric: true, cell: (row) => number(row[at], 6) };
    return { label, cell: (row) => (at === 0 ? clock(row[0]) : String(row[at] ?? "–")) };
  });
  const which = found.columns.includes("bin_low") ? "first" : "largest";
  const some = `The chart shows the ${which} ${MOST_LINES} of ${count(lines.length)} lines; the table has all.`;
  const steps = found.steps?.length ? make("p", { class: "note" }, `Made of it: ${found.steps.join("; ")}.`) : "";
  const note = lines.length > drawn.length ? make("p", { class: "note" }, some) : "";
  const covers = found.note && lines.length ? make("p", { class: "note" }, `${found.note}.`) : "";
  place.replaceChildren(covers, steps, table(about, columns, found.rows, `${found.note}.`));
  chart.parentElement.querySelector("[data-slot=drawn]")?.replaceChildren(note);
};
