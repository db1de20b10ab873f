// What is spent, what is left, and who spent it.

import { address } from "../api.js";
import { fill, make, moment, number, options, path, percent, table } from "../dom.js";
import { pagedTable } from "../paged.js";

const SVG = "http://www.w3.org/2000/svg";
const AROUND = 2 * Math.PI * 42;

export const show = async (place, { api, me, signal }, wanted) => {
  const slot = fill(place, "budget");
  const name = me.datasets.includes(wanted) ? wanted : me.datasets[0];
  if (name === undefined) {
    slot("guarantee").textContent = "There is no dataset for you: ask the owner.";
    return;
  }
  options(slot("dataset"), me.datasets, name);
  slot("dataset").addEventListener("change", (event) => {
    location.hash = `#/budget${path(event.target.value)}`;
  });
  const [budget, history] = await Promise.all([
    api.get(`/datasets${path(name)}/budget`, signal),
    pagedTable({
      api,
      path: `/datasets${path(name)}/history`,
      signal,
      caption: "Who spent what, newest first",
      columns: (entries) => [
        { label: "Number", numeric: true, cell: (entry) => String(entry.number) },
        { label: "Who", cell: (entry) => entry.who },
        { label: "Request", cell: (entry) => entry.request || "–" },
        { label: "What it cost", wide: true, cell: (entry) => entry.cost || "–" },
        ...(entries.some((entry) => entry.period) ? [{ label: "Period", cell: (entry) => entry.period }] : []),
        { label: "When", cell: (entry) => moment(entry.made) },
      ],
      empty: "Nothing was spent yet.",
    }),
  ]);
  const { whole, mine, analysts } = budget;
  slot("guarantee").textContent = `${whole.guarantee} ${whole.lifetime}`;
  slot("gauges").append(
    gauge("The whole", whole),
    ...(mine ? [gauge("Your part", mine)] : []),
    ...Object.entries(analysts).map(([who, part]) => gauge(who, part)),
  );
  const accounts = [["The whole", whole], ...(mine ? [["Your part", mine]] : []), ...Object.entries(analysts)];
  slot("sums").append(
    make("h2", {}, "Spent and left"),
    table(
      "Spent and left",
      [
        { label: "Budget", cell: ([who]) => who },
        { label: "Counted in", cell: ([, part]) => part.name },
        { label: "Spent", numeric: true, cell: ([, part]) => number(part.spent) },
        { label: "Limit", numeric: true, cell: ([, part]) => number(part.limit) },
        { label: "Left", numeric: true, cell: ([, part]) => number(part.left) },
      ],
      accounts.flatMap(([who, account]) => account.told.map((part) => [who, part])),
    ),
    ...(whole.told.every((part) => part.adds)
      ? []
      : [make("p", { class: "note" }, "Several noisy releases together cost less than the sum of their ε. So what is left can be more than the limit minus what is spent.")]),
    ...(whole.unreleased.length
      ? [make("p", { class: "note" }, `Debited but never released: ${whole.unreleased.join(", ")}.`)]
      : []),
  );
  if (me.role !== "analyst") {
    const link = { class: "button", href: address(`/datasets${path(name)}/chain/file`), download: `${name}-chain.json` };
    slot("chain").append(make("a", link, "All certificates"));
  }
  slot("history").append(history);
};

const ring = (share) => {
  const picture = document.createElementNS(SVG, "svg");
  picture.setAttribute("viewBox", "0 0 100 100");
  picture.setAttribute("aria-hidden", "true");
  for (const [name, length] of [["track", 1], ["used", share]]) {
    const circle = document.createElementNS(SVG, "circle");
    for (const [key, value] of Object.entries({ cx: 50, cy: 50, r: 42, class: name })) circle.setAttribute(key, value);
    circle.setAttribute("stroke-dasharray", `${AROUND * length} ${AROUND}`);
    picture.append(circle);
  }
  return picture;
};

// What was used since the first charge, and dashed what is to come at that rate; nothing where nobody can say.
const road = (share, { since, today, until }) => {
  if (until === null) return [];
  const day = (text) => Date.parse(`${text}T00:00:00Z`);
  const [wide, high, edge] = [200, 40, 4];
  const x = edge + ((day(today) - day(since)) / Math.max(1, day(until) - day(since))) * (wide - 2 * edge);
  const y = high - edge - share * (high - 2 * edge);
  const picture = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${wide} ${high}`, class: "road", "aria-hidden": "true" }))
    picture.setAttribute(key, value);
  const ways = { limit: [edge, edge, wide - edge, edge], used: [edge, high - edge, x, y], ahead: [x, y, wide - edge, edge] };
  for (const [name, [x1, y1, x2, y2]] of Object.entries(ways)) {
    const line = document.createElementNS(SVG, "line");
    for (const [key, value] of Object.entries({ x1, y1, x2, y2, class: name })) line.setAttribute(key, value);
    picture.append(line);
  }
  return [picture];
};

const gauge = (name, { share, epsilon, delta, charges, largest_pure: largest, outlook }) => {
  const used = percent(share);
  const meter = make(
    "div",
    {
      class: share > 0.9 ? "ring nearly" : "ring",
      role: "meter",
      "aria-label": `${name}: used`,
      "aria-valuemin": 0,
      "aria-valuemax": 100,
      "aria-valuenow": (100 * share).toFixed(1),
      "aria-valuetext": `${used} used`,
    },
    ring(share),
    make("span", { "aria-hidden": "true" }, used),
  );
  const left = largest === null ? "Nothing fits any more" : `One more of pure ε ${number(largest, 3)} fits`;
  return make(
    "div",
    { class: "sheet gauge" },
    meter,
    make(
      "div",
      {},
      make("h2", {}, name),
      make("p", {}, `ε ${number(epsilon)}, δ ${number(delta)}`),
      make("p", { class: "note" }, `${charges} ${charges === 1 ? "charge" : "charges"}. ${left}.`),
      ...road(share, outlook),
      make("p", { class: "note" }, outlook.words),
    ),
  );
};
