// A released table, drawn and in full: lines with bands, one for each group, and every row beside them.

import { draw } from "./chart.js";
import { clock, count, make, number, table } from "./dom.js";

const MOST_LINES = 12;
const NUMBERS = 3; // value, lower, upper come last

export const linesOf = ({ columns, rows }) => {
  const last = columns.length - NUMBERS;
  const lines = new Map();
  for (const row of rows) {
    const name = row.slice(1, last).join(", ");
    if (!lines.has(name)) lines.set(name, { name, x: [], y: [], lower: [], upper: [] });
    const line = lines.get(name);
    line.x.push(typeof row[0] === "string" ? row[0].slice(0, 19) : row[0]);
    line.y.push(row[last]);
    line.lower.push(row[last + 1]);
    line.upper.push(row[last + 2]);
  }
  return [...lines.values()];
};

export const showReleased = async (chart, place, found, { about, lines = linesOf(found) }) => {
  await draw(chart, lines.slice(0, MOST_LINES), { label: found.label, about });
  const last = found.columns.length - NUMBERS;
  const columns = found.columns.map((label, at) => {
    if (at >= last) return { label, numeric: true, cell: (row) => number(row[at], 6) };
    return { label, cell: (row) => (at === 0 ? clock(row[0]) : String(row[at])) };
  });
  const some = `The chart shows the first ${MOST_LINES} of ${count(lines.length)} groups.`;
  const note = lines.length > MOST_LINES ? make("p", { class: "note" }, some) : "";
  place.replaceChildren(note, table(about, columns, found.rows));
};
