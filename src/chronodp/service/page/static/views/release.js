// One release: its readings with bands, zoom, downloads, and its certificate.

import { address } from "../api.js";
import { offerZoom } from "../chart.js";
import { capital, facts, fill, make, moment, number, options, path, say } from "../dom.js";
import { guarded } from "../refusal.js";
import { linesOf, showReleased } from "../released.js";

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
  const file = `${dataset}-${release.number}`;
  const link = (where, name, text) => make("a", { class: "button", href: address(where), download: name }, text);
  slot("downloads").append(
    csv,
    link(base, `${file}.json`, "Release (JSON)"),
    link(`${base}/certificate`, `${file}-certificate.json`, "Certificate"),
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
  const about = `Line chart of ${found.title}`;
  await showReleased(slot("chart"), slot("table"), found, { about, lines: chosen });
  say(`${found.title}, ${found.rows.length} rows`);
};
