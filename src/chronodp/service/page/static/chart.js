// Lines in their bands, drawn by Plotly in the colours of the page.

import { make, number, oneLine } from "./dom.js";

const COLOURS = 6; // of lines, in the style sheet
const DASHES = ["solid", "dash", "dot", "dashdot"];
const MOST = 4000; // points of a line past which SVG is slow
const NARROW = 480; // pixels below which dates would stand on their heads
const MANY = 8; // lines past which one box for all would hide them
const FEW = 60; // points up to which each is worth a mark
const FILLED = 0.22; // how much of its colour a band has inside

// Plotly reads tags in texts; names are shown as they are.
const literal = (text) => oneLine(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

const plotly = () => {
  if (window.Plotly) return Promise.resolve();
  return new Promise((resolve, reject) => {
    const source = document.documentElement.dataset.plotly;
    const script = make("script", { src: source, load: resolve, error: () => reject(new Error("no Plotly")) });
    document.head.append(script);
  });
};

// The style sheet alone knows the colours: an element that wears one says what it is in the theme of the moment.
const colour = (name) => {
  const probe = make("i");
  probe.style.color = `var(${name})`;
  document.body.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
};

const lineColours = () => Array.from({ length: COLOURS }, (_, place) => colour(`--line-${place + 1}`));

const clear = (ink, part) => ink.replace(/^rgb\((.*)\)$/, `rgba($1, ${part})`);

const colours = (box) => {
  const [text, ink, edge, rule, sheet] = ["--soft", "--ink", "--edge", "--rule", "--sheet"].map(colour);
  return {
    paper_bgcolor: sheet,
    plot_bgcolor: sheet,
    "font.color": text,
    "font.family": getComputedStyle(box).fontFamily,
    "xaxis.gridcolor": rule,
    "xaxis.linecolor": edge,
    "xaxis.spikecolor": text,
    "yaxis.gridcolor": rule,
    "yaxis.zerolinecolor": text,
    "hoverlabel.bgcolor": sheet,
    "hoverlabel.bordercolor": rule,
    "hoverlabel.font.color": ink,
  };
};

// The group of a trace is the number of its line.
const inks = (box) => {
  const lines = lineColours();
  const own = box.data.map(({ legendgroup }) => lines[Number(legendgroup) % COLOURS]);
  return {
    "line.color": own,
    "marker.color": own,
    "marker.line.color": own,
    "error_y.color": own,
    fillcolor: own.map((ink) => clear(ink, FILLED)),
  };
};

export const repaint = () => {
  for (const box of document.querySelectorAll(".js-plotly-plot")) window.Plotly.update(box, inks(box), colours(box));
};

// Of a long line every stretch keeps its least and its largest value, so no peak is lost, and a gap if it has one.
const thinned = (line) => {
  const size = line.x.length;
  if (size <= MOST) return line;
  const width = Math.ceil((2 * size) / MOST);
  const kept = [];
  for (let start = 0; start < size; start += width) {
    const stretch = Array.from({ length: Math.min(width, size - start) }, (_, step) => start + step);
    const known = stretch.filter((place) => line.y[place] !== null);
    const best = (better) => known.reduce((one, other) => (better(line.y[other], line.y[one]) ? other : one), known[0]);
    const gap = stretch.find((place) => line.y[place] === null);
    const some = [best((one, other) => one < other), best((one, other) => one > other), gap];
    kept.push(...[...new Set(some)].filter((place) => place !== undefined).sort((one, other) => one - other));
  }
  const pick = (cells) => cells && kept.map((place) => cells[place]);
  const { name, x, y, lower, upper, told } = line;
  return { name, x: pick(x), y: pick(y), lower: pick(lower), upper: pick(upper), told: pick(told) };
};

// The stretches of points with both ends.
const stretchesOf = ({ x, lower, upper }) => {
  const stretches = [];
  let last = null;
  x.forEach((_, place) => {
    if (lower[place] === null || upper[place] === null) last = null;
    else if (last) last.push(place);
    else stretches.push((last = [place]));
  });
  return stretches;
};

// One closed shape for every stretch: along the upper ends, back along the lower, and up to where it began.
const bandOf = ({ x, lower, upper }, stretches) => {
  const along = { x: [], y: [] };
  for (const stretch of stretches) {
    const [first, back] = [stretch[0], [...stretch].reverse()];
    along.x.push(...[...stretch, ...back, first].map((place) => x[place]), null);
    along.y.push(...stretch.map((place) => upper[place]), ...back.map((place) => lower[place]), upper[first], null);
  }
  return along;
};

// Whether some value has none beside it, so that a line alone would not show it.
const lonely = ({ y }) => y.some((value, at) => value !== null && (y[at - 1] ?? y[at + 1] ?? null) === null);

// A stretch of a single point has no width to fill: its interval is a bar.
const barsOf = ({ x, y, lower, upper }, stretches, ink) => {
  const alone = new Set(stretches.filter((stretch) => stretch.length === 1).flat());
  if (alone.size === 0) return {};
  const reach = (far) => x.map((_, place) => (alone.has(place) && y[place] !== null ? far(place) : 0));
  const array = reach((place) => upper[place] - y[place]);
  const arrayminus = reach((place) => y[place] - lower[place]);
  return { error_y: { type: "data", symmetric: false, array, arrayminus, color: ink, thickness: 1.5, width: 0 } };
};

const spoken = ({ y, lower, upper, told }, place) => {
  if (told?.[place]) return literal(told[place]);
  const [low, high] = [lower[place], upper[place]];
  return `${number(y[place], 6)} (${low === null ? "no lower end" : number(low, 6)} to ${high === null ? "no upper end" : number(high, 6)})`;
};

// Where there is no value and words say why, a cross stands at the bottom: on the axis of values it would be a number.
const crossesOf = (line, index, shared, ink) => {
  const there = line.x.map((_, place) => place).filter((place) => line.y[place] === null && line.told?.[place]);
  if (there.length === 0) return [];
  return [
    {
      ...shared,
      x: there.map((place) => line.x[place]),
      y: there.map(() => 0.015 + 0.025 * index),
      yaxis: "y2",
      mode: "markers",
      marker: { symbol: "x-thin", size: 6, line: { width: 1.4, color: ink } },
      customdata: there.map((place) => literal(line.told[place])),
      hovertemplate: "%{customdata}",
      showlegend: false,
    },
  ];
};

const traces = (given, index, all, inks) => {
  const line = thinned(given);
  const stretches = stretchesOf(line);
  const ink = inks[index % COLOURS];
  const shared = { name: literal(line.name), legendgroup: String(index), type: "scatter" };
  const band = {
    ...shared,
    ...bandOf(line, stretches),
    mode: "lines",
    line: { width: all.length > MANY ? 0.5 : 1, color: ink }, // on a dark ground the filling alone is hardly seen
    fill: "toself",
    fillcolor: clear(ink, FILLED),
    hoverinfo: "skip",
    showlegend: false,
  };
  const curve = {
    ...shared,
    x: line.x,
    y: line.y,
    customdata: line.x.map((_, place) => spoken(line, place)),
    hovertemplate: "%{customdata}",
    mode: line.x.length <= FEW || lonely(line) ? "lines+markers" : "lines",
    line: { color: ink, width: 2, dash: DASHES[Math.floor(index / COLOURS) % DASHES.length] },
    marker: { size: 5 },
    ...barsOf(line, stretches, ink),
  };
  return [...crossesOf(line, index, shared, ink), band, curve];
};

const layout = (lines, { label, dates, narrow }) => ({
  template: "none",
  font: { size: 13 },
  margin: { l: 12, r: 16, t: 16, b: 12 },
  showlegend: lines.length > 1,
  legend: { orientation: "h", y: -0.15, x: 0 },
  hovermode: lines.length > MANY ? "closest" : "x unified",
  dragmode: window.matchMedia("(hover: none), (pointer: coarse)").matches ? false : "zoom",
  xaxis: { type: dates ? "date" : "linear", automargin: true, zeroline: false, showline: true, nticks: narrow ? 4 : 8 },
  yaxis: {
    title: { text: literal(label), standoff: 10 },
    automargin: true,
    separatethousands: true,
    minexponent: 6,
    fixedrange: true,
  },
  yaxis2: { overlaying: "y", range: [0, 1], visible: false, fixedrange: true },
});

// Draws lines of {name, x, y, lower, upper} and perhaps told, words for points that are no plain value; again on the same box it moves what is there.
export const draw = async (box, lines, { label, about, keep = false, empty = "" }) => {
  box.setAttribute("role", "img");
  if (lines.length === 0 && empty) {
    window.Plotly?.purge(box);
    box.setAttribute("aria-label", empty);
    box.replaceChildren(make("p", { class: "note" }, empty));
    return;
  }
  box.setAttribute("aria-label", `${about}. The table below holds the same numbers.`);
  try {
    await plotly();
  } catch {
    box.textContent = "The chart could not be drawn. The table holds the same numbers.";
    return;
  }
  if (!box.matches(".js-plotly-plot")) box.replaceChildren(); // what was said of an empty chart
  const dates = lines.some((line) => typeof line.x[0] === "string");
  const shape = layout(lines, { label, dates, narrow: box.clientWidth < NARROW });
  if (keep && box.layout?.xaxis.autorange === false) shape.xaxis.range = box.layout.xaxis.range;
  const inks = lineColours();
  const drawn = lines.flatMap((line, index) => traces(line, index, lines, inks));
  await window.Plotly.react(box, drawn, shape, { displayModeBar: false, responsive: true });
  await window.Plotly.relayout(box, colours(box));
};

const ZOOMS = [
  ["Earlier", "←", (from, to) => [from - (to - from) / 2, to - (to - from) / 2]],
  ["Later", "→", (from, to) => [from + (to - from) / 2, to + (to - from) / 2]],
  ["Zoom in", "+", (from, to) => [from + (to - from) / 4, to - (to - from) / 4]],
  ["Zoom out", "−", (from, to) => [from - (to - from) / 2, to + (to - from) / 2]],
];

// Zooming by keyboard, a finger or a pointer alike.
export const offerZoom = (group, box) => {
  const move = (change) => {
    const axis = box.layout?.xaxis;
    if (!axis) return;
    // Plotly writes a moment as the clock showed it, without a zone.
    const read = (end) => (axis.type === "date" ? Date.parse(`${String(end).replace(" ", "T").slice(0, 19)}Z`) : end);
    const write = (end) => (axis.type === "date" ? new Date(end).toISOString().slice(0, -1) : end);
    const whole = (end) => (/T|\d \d/.test(String(end)) ? end : `${end}T00:00:00`);
    const ends = axis.range.map((end) => read(axis.type === "date" ? whole(end) : end));
    window.Plotly.relayout(box, { "xaxis.range": change(...ends).map(write) });
  };
  const buttons = ZOOMS.map(([name, sign, change]) =>
    make("button", { type: "button", "aria-label": name, title: name, click: () => move(change) }, sign),
  );
  const all = () => window.Plotly?.relayout(box, { "xaxis.autorange": true });
  group.replaceChildren(...buttons, make("button", { type: "button", click: all }, "All"));
};
