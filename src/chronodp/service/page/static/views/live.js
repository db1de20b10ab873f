// A stream as it is released, with the alerts of its dataset.

import { address } from "../api.js";
import { draw } from "../chart.js";
import { count, fill, make, number, oneLine, options, path, table } from "../dom.js";
import { guarded, refusalBox } from "../refusal.js";

const DRAWN_EVERY = 250; // milliseconds
const ALERTS_FOLLOWED = 3; // a browser opens six connections to one place, and each stream holds one
const LISTED = 20;

const isAlert = (stream) => stream.kind.includes("alert");

export const show = async (place, { api, signal }, wanted) => {
  const streams = await api.get("/streams", signal);
  const slot = fill(place, "live");
  const chosen = streams.find((stream) => stream.name === wanted) ?? streams.find((one) => !isAlert(one)) ?? streams[0];
  if (!chosen) {
    slot("about").textContent =
      "There is no stream yet. The owner starts one with cdp.Stream or cdp.Alert on this ledger.";
    for (const name of ["figure", "alerts-sheet"]) slot(name).hidden = true;
    slot("stream").parentElement.hidden = true;
    return;
  }
  options(slot("stream"), streams.map((stream) => stream.name), chosen.name);
  slot("stream").addEventListener("change", (event) => {
    location.hash = `#/live${path(event.target.value)}`;
  });
  slot("caption").textContent = oneLine(`${chosen.name}: ${chosen.what}`);
  slot("about").textContent =
    `Of ${chosen.dataset}` + (chosen.epsilon ? `, ε ${number(chosen.epsilon)} for all steps together.` : ".");
  slot("said").replaceChildren(...said(chosen).map((text) => make("li", {}, text)));
  slot("said").hidden = said(chosen).length === 0;
  slot("no-alerts").textContent = "None so far.";
  const alarms = streams.filter((one) => isAlert(one) && one.dataset === chosen.dataset && one !== chosen);
  slot("figure").hidden = isAlert(chosen);
  slot("alerts-sheet").hidden = !isAlert(chosen) && alarms.length === 0;
  const picture = new Picture(slot, signal);
  for (const one of [chosen, ...alarms.slice(0, ALERTS_FOLLOWED)]) follow(api, one, slot, picture, signal);
};

// What the process that feeds the stream last said of itself: text that others wrote, shown as text.
const said = ({ said_at: at, waits, gaps }) => [
  ...waits.map((wait) => `Waits, as of ${at}: ${wait}.`),
  ...(gaps ?? []).map((gap) => `Gap, noticed ${gap.at}: ${gap.what}.`),
];

const follow = (api, stream, slot, picture, signal) => {
  const source = new EventSource(address(`/streams${path(stream.name)}/events`));
  let last = 0;
  const state = (text) => {
    slot("state").textContent = text;
  };
  signal.addEventListener("abort", () => source.close());
  source.addEventListener("open", () => state("live"));
  source.addEventListener("error", () => {
    state(source.readyState === EventSource.CLOSED ? "closed" : "connecting again");
  });
  source.addEventListener("problem", (event) => {
    source.close();
    slot("refusal").replaceChildren(refusalBox(JSON.parse(event.data)));
  });
  source.addEventListener("message", async (event) => {
    const step = JSON.parse(event.data);
    if (step.kind === "end") {
      source.close();
      const now = await guarded(slot("refusal"), () => api.get(`/streams${path(stream.name)}`, signal));
      if (!now || signal.aborted) return;
      if (now.finished) state("finished");
      else follow(api, stream, slot, picture, signal);
      return;
    }
    if (step.step <= last) return; // a new connection begins at the beginning
    last = step.step;
    if (step.kind === "value") picture.add(step);
    if (step.kind === "alert") tellAlert(slot, stream.name, step);
  });
};

const tellAlert = (slot, name, { step, period, value }) => {
  const id = `alert-${encodeURIComponent(name)}-${step}`;
  if (document.getElementById(id)) return;
  const size = typeof value === "number" ? `, released value ${number(value)}` : "";
  const when = typeof period === "number" ? ` in period ${count(period)}` : "";
  slot("no-alerts").textContent = "";
  slot("alerts").prepend(make("li", { id }, make("strong", {}, name), `${when}${size}`));
};

// Steps gathered as they come, drawn a few times a second.
class Picture {
  constructor(slot, signal) {
    this.slot = slot;
    this.lines = [];
    this.steps = [];
    this.timer = null;
    signal.addEventListener("abort", () => clearTimeout(this.timer));
  }

  add(step) {
    if (step.step <= (this.steps.at(-1)?.step ?? 0)) return;
    this.steps.push(step);
    step.values.forEach((value, place) => {
      const names = step.values.length > 1 ? `series ${place + 1}` : "value";
      this.lines[place] ??= { name: names, x: [], y: [], lower: [], upper: [] };
      const line = this.lines[place];
      line.x.push(step.period);
      line.y.push(value);
      // Where the width of the band cannot be told there is none.
      const known = typeof value === "number" && typeof step.half_width === "number";
      line.lower.push(known ? value - step.half_width : null);
      line.upper.push(known ? value + step.half_width : null);
    });
    this.timer ??= setTimeout(() => this.#draw(), DRAWN_EVERY);
  }

  #draw() {
    this.timer = null;
    const newest = this.steps.at(-1);
    const values = newest.values.slice(0, 4).map((value) => number(value)).join(", ");
    this.slot("value").textContent = `${values} ± ${number(newest.half_width)}`;
    // Plotly takes an array that it knows for one that has not changed.
    const lines = this.lines.map(({ name, x, y, lower, upper }) => ({
      name,
      x: [...x],
      y: [...y],
      lower: [...lower],
      upper: [...upper],
    }));
    draw(this.slot("chart"), lines, { label: "", about: "Line chart of the stream", keep: true });
    const columns = [
      { label: "Period", numeric: true, cell: (step) => count(step.period) },
      { label: "Released", numeric: true, cell: (step) => step.values.map((value) => number(value, 6)).join(", ") },
      { label: "±", numeric: true, cell: (step) => number(step.half_width) },
    ];
    const newestFirst = this.steps.slice(-LISTED).reverse();
    this.slot("table").replaceChildren(table(`The newest ${LISTED} steps`, columns, newestFirst));
  }
}
