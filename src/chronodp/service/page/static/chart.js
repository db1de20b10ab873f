// Lines in their bands, drawn by Plotly in the colours of the page.

import { make, number, oneLine } from "./dom.js";

// Six colours of Okabe and Ito (2008) that show on white and on black.
const COLOURS = ["0, 114, 178", "213, 94, 0", "0, 158, 115", "204, 121, 167", "230, 159, 0", "86, 180, 233"];
const DASHES = ["solid", "dash", "dot", "dashdot"];
const MOST = 4000; // points of a line past which SVG is slow
const FEW = 60; // points up to which each is worth a mark

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

// The style sheet alone knows the colours; a chart takes them from its own box.
const colours = (box) => {
  const style = getComputedStyle(box);
  const [text, rule, sheet] = [style.color, style.borderTopColor, style.backgroundColor];
  return {
    paper_bgcolor: sheet,
    plot_bgcolor: sheet,
    "font.color": text,
    "font.family": style.fontFamily,
    "xaxis.gridcolor": rule,
    "xaxis.linecolor": rule,
    "xaxis.spikecolor": text,
    "yaxis.gridcolor": rule,
    "yaxis.zerolinecolor": text,
    "hoverlabel.bgcolor": sheet,
    "hoverlabel.bordercolor": rule,
    "hoverlabel.font.color": getComputedStyle(document.body).color,
  };
};

export const repaint = () => {
  for (const box of document.querySelectorAll(".js-plotly-plot")) window.Plotly.relayout(box, colours(box));
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

// One closed shape for every stretch: along the upper ends, and back along the lower.
const bandOf = ({ x, lower, upper }, stretches) => {
  const along = { x: [], y: [] };
  for (const stretch of stretches) {
    const back = [...stretch].reverse();
    along.x.push(...[...stretch, ...back].map((place) => x[place]), null);
    along.y.push(...stretch.map((place) => upper[place]), ...back.map((place) => lower[place]), null);
  }
  return along;
};

// Whether some value has none beside it, so that a line alone would not show it.
const lonely = ({ y }) => y.some((value, at) => value !== null && (y[at - 1] ?? y[at + 1] ?? null) === null);

// A stretch of a single point has no width to fill: its interval is a bar.
const barsOf = ({ x, y, lower, upper }, stretches, colour) => {
  const alone = new Set(stretches.filter((stretch) => stretch.length === 1).flat());
  if (alone.size === 0) return {};
  const reach = (far) => x.map((_, place) => (alone.has(place) && y[place] !== null ? far(place) : 0));
  const array = reach((place) => upper[place] - y[place]);
  const arrayminus = reach((place) => y[place] - lower[place]);
  return { error_y: { type: "data", symmetric: false, array, arrayminus, color: `rgba(${colour}, 0.5)`, thickness: 1.5, width: 0 } };
};

const spoken = ({ y, lower, upper, told }, place) => {
  if (told?.[place]) return literal(told[place]);
  const [low, high] = [lower[place], upper[place]];
  return `${number(y[place], 6)} (${low === null ? "no lower end" : number(low, 6)} to ${high === null ? "no upper end" : number(high, 6)})`;
};

// Where there is no value and words say why, a cross stands at the bottom: on the axis of values it would be a number.
const crossesOf = (line, index, shared) => {
  const there = line.x.map((_, place) => place).filter((place) => line.y[place] === null && line.told?.[place]);
  if (there.length === 0) return [];
  return [
    {
      ...shared,
      x: there.map((place) => line.x[place]),
      y: there.map(() => 0.015 + 0.025 * index),
      yaxis: "y2",
      mode: "markers",
      marker: { symbol: "x-thin", size: 6, line: { width: 1.4, color: `rgb(${COLOURS[index % COLOURS.length]})` } },
      customdata: there.map((place) => literal(line.told[place])),
      hovertemplate: "%{customdata}",
      showlegend: false,
    },
  ];
};

const traces = (given, index) => {
  const line = thinned(given);
  const stretches = stretchesOf(line);
  const colour = COLOURS[index % COLOURS.length];
  const shared = { name: literal(line.name), legendgroup: String(index), type: "scatter" };
  const band = {
    ...shared,
    ...bandOf(line, stretches),
    mode: "lines",
    line: { width: 0 },
    fill: "toself",
    fillcolor: `rgba(${colour}, 0.2)`,
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
    line: { color: `rgb(${colour})`, width: 1.8, dash: DASHES[Math.floor(index / COLOURS.length) % DASHES.length] },
    marker: { size: 5 },
    ...barsOf(line, stretches, colour),
  };
  return [...crossesOf(line, index, shared), band, curve];
};

const layout = (lines, label, dates) => ({
  template: "none",
  font: { size: 13 },
  margin: { l: 12, r: 16, t: 16, b: 12 },
  showlegend: lines.length > 1,
  legend: { orientation: "h", y: -0.15, x: 0 },
  hovermode: lines.length > 8 ? "closest" : "x unified",
  dragmode: window.matchMedia("(hover: none), (pointer: coarse)").matches ? false : "zoom",
  xaxis: { type: dates ? "date" : "linear", automargin: true, zeroline: false, showline: true, nticks: 8 },
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
  const shape = layout(lines, label, dates);
  if (keep && box.layout?.xaxis.autorange === false) shape.xaxis.range = box.layout.xaxis.range;
  await window.Plotly.react(box, lines.flatMap(traces), shape, { displayModeBar: false, responsive: true });
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
