// A plan as it is shown: price, error, bands, words and alternatives.

import { draw } from "./chart.js";
import { clock, count, facts, make, number, percent, table } from "./dom.js";
import { errorName, errorText, findsBounds, ofRanks } from "./errors.js";
import { refusalBox } from "./refusal.js";
import { bandWords, scaleWords } from "./scale.js";

const PARTS = ["headline-sheet", "words-sheet", "alternatives-sheet"];
const READINGS = { each_period: "Each period", running_total: "Running total" };

export const showPlan = (slot, plan) => {
  const big = (label, text) => make("div", {}, make("dt", {}, label), make("dd", {}, text));
  slot("headline").replaceChildren(
    make(
      "dl",
      { class: "headline" },
      big(errorName(plan), errorText(plan)),
      big("Price", `ε ${number(plan.epsilon)}`),
      big("Budget used so far", percent(plan.share)),
      big("Fits", plan.fits ? "yes" : "no"),
    ),
  );
  for (const name of PARTS) slot(name).hidden = false;
  const { text, warning } = scaleWords(plan);
  slot("scale").textContent = text;
  slot("scale").classList.toggle("warning", warning);
  slot("refusal").replaceChildren(...(plan.refusal ? [refusalBox(plan.refusal)] : []));
  facts(slot("facts"), plan.facts.map(({ label, text }) => [label, text]));
  const finds = findsBounds(plan);
  slot("alternatives-note").textContent = finds
    ? `What may be found, and how far noise then carries a number${sized(plan) ? ", for each 1 of the size found" : ""}.`
    : "Every way that was weighed, the chosen one first.";
  slot("alternatives").replaceChildren((finds ? candidates : ofRanks(plan) ? ways : alternatives)(plan.alternatives));
  showBands(slot, plan);
};

// A question that is refused has no plan, and that of an earlier one would mislead.
export const hidePlan = (slot) => {
  for (const name of ["headline", "scale", "facts", "alternatives", "alternatives-note"]) slot(name).replaceChildren();
  for (const name of [...PARTS, "preview"]) slot(name).hidden = true;
};

const sized = ({ design }) => design.finds.some((name) => name === "clip" || name === "at_most");

const candidates = (rows) =>
  table(
    "Bounds that may be found",
    [
      { label: "Periods of a person", numeric: true, cell: (row) => number(row.max_periods) },
      { label: "Groups of a period", numeric: true, cell: (row) => number(row.max_groups) },
      { label: "Error, 95 of 100", numeric: true, cell: (row) => `± ${number(row.half_width)}` },
    ],
    rows,
  );

const alternatives = (rows) =>
  table(
    "Alternatives, the chosen one first",
    [
      { label: "Shape", cell: (row) => row.shape },
      { label: "Noise", cell: (row) => row.noise },
      ...(rows.some((row) => row.cap) ? [{ label: "Counts of a person", cell: (row) => row.cap }] : []),
      { label: "Error, 95 of 100", numeric: true, cell: (row) => `± ${number(row.half_width)}` },
      { label: "Mean error", numeric: true, cell: (row) => number(row.rmse_mean) },
      { label: "Largest error", numeric: true, cell: (row) => number(row.rmse_max) },
      { label: "ε", numeric: true, cell: (row) => number(row.epsilon) },
    ],
    rows,
  );

const ways = (rows) =>
  table(
    "Alternatives, the chosen one first",
    [
      { label: "Way", cell: (row) => row.way },
      { label: "Ranks off on average", numeric: true, cell: (row) => number(row.rank_error) },
      { label: "Intervals of values", cell: (row) => (row.intervals ? "yes" : "no") },
      { label: "ε", numeric: true, cell: (row) => number(row.epsilon) },
    ],
    rows,
  );

const showBands = (slot, plan) => {
  const names = Object.keys(plan.bands);
  slot("preview").hidden = names.length === 0;
  if (names.length === 0) return;
  const group = slot("readings");
  const pressed = group.querySelector("[aria-pressed=true]")?.dataset.reading;
  const tuned = plan.design.tuned_for.kind;
  const chosen = [pressed, tuned, names[0]].find((name) => names.includes(name));
  group.replaceChildren(
    ...names.map((name) => {
      const press = () => {
        for (const other of group.children) other.setAttribute("aria-pressed", String(other === button));
        drawBand(slot, plan, name);
      };
      const state = { "data-reading": name, "aria-pressed": String(name === chosen) };
      const button = make("button", { type: "button", ...state, click: press }, READINGS[name]);
      return button;
    }),
  );
  drawBand(slot, plan, chosen);
};

// The API gives the widths of evenly spaced periods; here is when they are.
const moments = ({ horizon, calendar }, size) => {
  const apart = (horizon - 1) / Math.max(1, size - 1);
  const periods = Array.from({ length: size }, (_, place) => Math.round(place * apart));
  if (!calendar) return periods;
  const [start, end] = [calendar.start, calendar.end].map((text) => Date.parse(`${text.slice(0, 19)}Z`));
  return periods.map((period) => new Date(start + ((end - start) * period) / horizon).toISOString().slice(0, 19));
};

const drawBand = (slot, plan, name) => {
  slot("covers").textContent = bandWords(plan);
  const widths = plan.bands[name];
  const x = moments(plan.design.table, widths.length);
  const line = { name: "noise", x, y: widths.map(() => 0), lower: widths.map((width) => -width), upper: widths };
  const reach = `from ± ${number(widths[0])} to ± ${number(widths.at(-1))}`;
  const about = `Band of the noise on ${READINGS[name].toLowerCase()}, ${reach}`;
  draw(slot("bands"), [line], { label: "noise", about });
  slot("band-table").replaceChildren(
    table(
      about,
      [
        { label: "Period from", cell: (place) => (typeof x[place] === "string" ? clock(x[place]) : count(x[place])) },
        { label: "Half width", numeric: true, cell: (place) => `± ${number(widths[place])}` },
      ],
      x.map((_, place) => place),
    ),
  );
};
