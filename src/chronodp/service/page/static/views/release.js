// One release: its readings with bands, zoom, downloads, and its certificate.

import { address } from "../api.js";
import { offerZoom } from "../chart.js";
import { capital, facts, fill, make, moment, number, oneLine, options, path, say } from "../dom.js";
import { offerBaseline, offerPart, readReading, revealReading, searchPlaces } from "../reading.js";
import { guarded } from "../refusal.js";
import { linesOf, showReleased } from "../released.js";

const MOST_NAMES = 1000; // of lines to choose one from

export const show = async (place, { api, signal }, dataset, given) => {
  const base = `/datasets${path(dataset)}/releases${path(given)}`;
  const [release, certificate] = await Promise.all([api.get(base, signal), api.get(`${base}/certificate`, signal)]);
  const slot = fill(place, "release");
  slot("kind").textContent = `Release ${release.number} of ${dataset}`;
  slot("title").textContent = capital(release.what.split(";")[0]);
  slot("promise").textContent =
    `ε ${number(release.epsilon)}, δ ${number(release.delta)}, asked by ${release.who} as “${oneLine(release.request)}”, ` +
    `released ${moment(release.issued)}.`;
  facts(slot("facts"), release.facts.map(({ label, text }) => [label, text]));
  slot("certificate").textContent = certificate.words;
  const csv = make("a", { class: "button main", download: true }, "CSV of what is shown");
  const file = `${dataset}-${release.number}`;
  const link = (where, name, text) => make("a", { class: "button", href: address(where), download: name }, text);
  slot("downloads").append(
    csv,
    release.beside > 0
      ? link(`${base}/file`, `${file}.arrow`, "Release (Arrow)")
      : link(base, `${file}.json`, "Release (JSON)"),
    link(`${base}/certificate`, `${file}-certificate.json`, "Certificate"),
  );
  if (release.parts.length === 0) {
    slot("figure").hidden = true;
    csv.remove();
    return;
  }
  const form = slot("reading");
  const partOf = () => release.parts.find(({ name }) => name === form.elements.part.value);
  options(form.elements.part, release.parts.map(({ name }) => name), release.parts[0].name);
  slot("part-label").hidden = release.parts.length < 2;
  offerPart(form, slot, partOf(), release.parts);
  offerZoom(slot("zoom"), slot("chart"));
  let asked = new AbortController();
  const look = async () => {
    revealReading(form, partOf());
    asked.abort(); // what was asked before may be answered later
    asked = new AbortController();
    signal.addEventListener("abort", () => asked.abort(), { once: true });
    const { signal: latest } = asked;
    await guarded(slot("refusal"), () => reading(api, base, slot, partOf(), csv, latest));
  };
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", (event) => {
    if (event.target.name === "place") guarded(slot("refusal"), () => searchPlaces(api, base, form, slot, signal));
  });
  form.addEventListener("change", (event) => {
    if (event.target.name === "part") offerPart(form, slot, partOf(), release.parts);
    if (event.target.name === "places") form.elements.place.value = "";
    look();
  });
  await look();
};

const reading = async (api, base, slot, part, csv, signal) => {
  const form = slot("reading");
  const query = readReading(form, part);
  const found = await api.get(`${base}/table?${query}`, signal);
  csv.href = address(`${base}/table?${query}&format=csv`);
  offerBaseline(form, found.rows);
  const lines = linesOf(found);
  const names = lines.map((line) => line.name);
  const only = form.elements.only.value;
  const kept = names.includes(only) ? only : "";
  slot("only-label").hidden = lines.length < 2 || lines.length > MOST_NAMES;
  options(form.elements.only, slot("only-label").hidden ? [""] : ["", ...names], kept, (name) => name || "all");
  const chosen = kept ? lines.filter((line) => line.name === kept) : lines;
  slot("caption").textContent = capital(found.title);
  slot("caption").hidden = slot("caption").textContent === slot("title").textContent;
  slot("bands").hidden = !found.columns.includes("lower"); // drawn bins have no interval
  const about = `Line chart of ${found.title}`;
  await showReleased(slot("chart"), slot("table"), found, { about, lines: chosen });
  say(`${found.title}, ${found.rows.length} rows`);
};
