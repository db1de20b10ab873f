// A dataset's budget over time: how much of it was used at the end of each day.

import { draw } from "../chart.js";
import { count, make, number, path, percent, table } from "../dom.js";

const DAY = 24 * 3600 * 1000;

// How much of every budget is used; those that are nearly used up come first.
export const showBudgets = async (slot, api, signal) => {
  const found = await api.get("/spending", signal);
  slot("budgets").replaceChildren(
    table(
      "All budgets",
      [
        { label: "Dataset", cell: ({ dataset }) => make("a", { href: `#/budget${path(dataset)}` }, dataset) },
        { label: "Used", numeric: true, cell: ({ share }) => percent(share) },
        { label: "ε", numeric: true, cell: ({ epsilon }) => number(epsilon) },
        { label: "δ", numeric: true, cell: ({ delta }) => number(delta) },
      ],
      found,
    ),
  );
};

export const showSpending = async (slot, api, dataset, signal) => {
  const found = await api.get(`/datasets${path(dataset)}/spending`, signal);
  const of = found.period ? ` in ${found.period}` : "";
  slot("used").textContent =
    `${percent(found.share)} of ε ${number(found.epsilon)}, δ ${number(found.delta)} used${of}.`;
  const points = steps(found);
  const lines = [
    {
      name: dataset,
      x: points.map(({ day }) => day),
      y: points.map(({ share }) => 100 * share),
      lower: points.map(() => null),
      upper: points.map(() => null),
      told: points.map(({ words }) => words),
    },
  ];
  draw(slot("chart"), found.days.length ? lines : [], {
    label: "used, %",
    about: `Line chart: how much of the budget of ${dataset} was used, by day`,
    empty: "Nothing was spent yet.",
  });
  slot("days").replaceChildren(
    table(
      `Budget of ${dataset} by day`,
      [
        { label: "Day", cell: ({ day }) => day },
        { label: "Used", numeric: true, cell: ({ share }) => percent(share) },
        { label: "Charges", numeric: true, cell: ({ charges }) => count(charges) },
      ],
      [...found.days].reverse(),
      "Nothing was spent yet.",
    ),
  );
};

// A budget is spent in steps: up to a day it is what it was, and after the last one it stays.
const steps = ({ opening, days, share }) => {
  if (days.length === 0) return [];
  const eve = new Date(Date.parse(`${days[0].day}T00:00:00Z`) - DAY).toISOString().slice(0, 10);
  const points = [point(eve, opening)];
  for (const { day, share: used, charges } of days) {
    points.push(point(day, points.at(-1).share), point(day, used, charges));
  }
  const today = new Date().toISOString().slice(0, 10);
  return today > points.at(-1).day ? [...points, point(today, share)] : points;
};

const point = (day, share, charges = 0) => {
  const words = charges ? `${percent(share)} used after ${count(charges)} ${charges === 1 ? "charge" : "charges"}` : `${percent(share)} used`;
  return { day, share, words };
};
