// One release: its readings with bands, zoom, downloads, and its certificate.

import { address } from "../api.js";
import { draw, drawnNote, linesOf, MOST_LINES, offerZoom } from "../chart.js";
import { capital, clock, facts, fill, make, moment, number, options, path, say, table } from "../dom.js";
import { guarded } from "../refusal.js";

const READINGS = {
  each_period: "each period",
  running_total: "running total",
  rolling: "rolling mean",
  resample: "longer periods",
  quantile: "quantile",
};

export const show = async (place, { api, signal }, dataset, given) => {
  const base = `/datasets${path(dataset)}/releases${path(given)}`;
  const [release, certificate] = await Promise.all([api.get(base, signal), api.get(`${base}/certificate`, signal)]);
  const slot = fill(place, "release");
  slot("kind").textContent = `Release ${release.number} of ${dataset}`;
  slot("title").textContent = capital(release.what.split(";")[0]);
  slot("promise").textContent =
    `ε ${number(release.epsilon)}, δ ${number(release.delta)}, asked by ${release.who} as “${release.request}”, ` +
    `released ${moment(release.issued)}.`;
  facts(slot("facts"), release.facts.map(({ label, text }) => [label, text]));
  slot("certificate").textContent = certificate.words;
  const csv = make("a", { class: "button main", download: true }, "CSV of what is shown");
  slot("downloads").append(
    csv,
    make("a", { class: "button", href: address(base), download: `${dataset}-${release.number}.json` }, "Release (JSON)"),
    make(
      "a",
      { class: "button", href: address(`${base}/certificate`), download: `${dataset}-${release.number}-certificate.json` },
      "Certificate",
    ),
  );
  if (release.readings.length === 0) {
    slot("figure").hidden = true;
    csv.remove();
    return;
  }
  const form = slot("reading");
  options(form.elements.view, release.readings, "each_period", (name) => READINGS[name]);
  offerZoom(slot("zoom"), slot("chart"));
  const look = () => guarded(slot("refusal"), () => reading(api, base, slot, csv, signal));
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("change", look);
  await look();
};

const reading = async (api, base, slot, csv, signal) => {
  const form = slot("reading");
  const { view, periods, every, fraction, level, only } = Object.fromEntries(new FormData(form));
  for (const part of form.querySelectorAll("[data-view]")) part.hidden = part.dataset.view !== view;
  const extra = { rolling: { periods }, resample: { every }, quantile: { fraction } }[view] ?? {};
  const query = new URLSearchParams({ view, level, ...extra });
  const found = await api.get(`${base}/table?${query}`, signal);
  csv.href = address(`${base}/table?${query}&format=csv`);
  const lines = linesOf(found);
  const names = lines.map((line) => line.name);
  const kept = names.includes(only) ? only : "";
  slot("only-label").hidden = lines.length < 2;
  options(form.elements.only, ["", ...names], kept, (name) => name || "all");
  const chosen = kept ? lines.filter((line) => line.name === kept) : lines;
  slot("caption").textContent = capital(found.title);
  slot("caption").hidden = slot("caption").textContent === slot("title").textContent;
  await draw(slot("chart"), chosen.slice(0, MOST_LINES), { label: found.label, about: `Line chart of ${found.title}` });
  const last = found.columns.length - 3;
  const columns = found.columns.map((name, place) => ({
    label: name,
    numeric: place >= last,
    cell: (row) => (place >= last ? number(row[place], 6) : place === 0 ? clock(row[0]) : String(row[place])),
  }));
  slot("table").replaceChildren(make("p", { class: "note" }, drawnNote(chosen)), table(found.title, columns, found.rows));
  say(`${found.title}, ${found.rows.length} rows`);
};
