// Lines in their bands, drawn by Plotly in the colours of the page.

import { make } from "./dom.js";

// Six colours of Okabe and Ito (2008) that show on white and on black.
const COLOURS = ["0, 114, 178", "213, 94, 0", "0, 158, 115", "204, 121, 167", "230, 159, 0", "86, 180, 233"];
const DASHES = ["solid", "dash", "dot", "dashdot"];
const MOST = 4000; // points of a line past which SVG is slow
const FEW = 60; // points up to which each is worth a mark

// Plotly reads tags in texts; names are shown as they are.
const literal = (text) => String(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

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

// Of a long line every stretch keeps its least and its largest value, so no peak is lost.
const thinned = (line) => {
  const size = line.x.length;
  if (size <= MOST) return line;
  const width = Math.ceil((2 * size) / MOST);
  const kept = [];
  for (let start = 0; start < size; start += width) {
    let [low, high] = [start, start];
    for (let place = start; place < Math.min(size, start + width); place += 1) {
      if (line.y[place] < line.y[low]) low = place;
      if (line.y[place] > line.y[high]) high = place;
    }
    kept.push(...(low === high ? [low] : [Math.min(low, high), Math.max(low, high)]));
  }
  const pick = (cells) => kept.map((place) => cells[place]);
  return { name: line.name, x: pick(line.x), y: pick(line.y), lower: pick(line.lower), upper: pick(line.upper) };
};

const traces = (line, index) => {
  const { name, x, y, lower, upper } = thinned(line);
  const colour = COLOURS[index % COLOURS.length];
  const known = x.map((_, place) => place).filter((place) => lower[place] !== null && upper[place] !== null);
  const back = [...known].reverse();
  const shared = { name: literal(name), legendgroup: String(index), type: "scatter" };
  const band = {
    ...shared,
    x: [...known.map((place) => x[place]), ...back.map((place) => x[place])],
    y: [...known.map((place) => upper[place]), ...back.map((place) => lower[place])],
    mode: "lines",
    line: { width: 0 },
    fill: "toself",
    fillcolor: `rgba(${colour}, 0.2)`,
    hoverinfo: "skip",
    showlegend: false,
  };
  const curve = {
    ...shared,
    x,
    y,
    customdata: x.map((_, place) => [lower[place], upper[place]]),
    hovertemplate: "%{y:,.5~g} (%{customdata[0]:,.5~g} to %{customdata[1]:,.5~g})",
    mode: x.length <= FEW ? "lines+markers" : "lines",
    line: { color: `rgb(${colour})`, width: 1.8, dash: DASHES[Math.floor(index / COLOURS.length) % DASHES.length] },
    marker: { size: 5 },
  };
  return [band, curve];
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
});

// Draws lines of {name, x, y, lower, upper}; again on the same box it moves what is there.
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
