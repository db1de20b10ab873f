// Series that were bought once: their terms, their issues, and a form to ask for the next one.

import { clock, count, facts, fill, make, moment, number, options, path, table } from "../dom.js";
import { submitTo } from "../submitting.js";

export const show = async (place, { api, me, signal }, wanted, name) => {
  const slot = fill(place, "lifetimes");
  const dataset = me.datasets.includes(wanted) ? wanted : me.datasets[0];
  const nothing = (why) => {
    slot("one").hidden = true;
    slot("series").parentElement.hidden = true;
    slot("none").hidden = false;
    slot("none").textContent = why;
  };
  if (dataset === undefined) {
    slot("dataset").parentElement.hidden = true;
    return nothing("There is no dataset for you: ask the owner.");
  }
  options(slot("dataset"), me.datasets, dataset);
  slot("dataset").addEventListener("change", (event) => {
    location.hash = `#/lifetimes${path(event.target.value)}`;
  });
  const found = await api.get(`/datasets${path(dataset)}/lifetimes`, signal);
  const series = found.find((one) => one.name === name) ?? found[0];
  if (!series) return nothing(`The owner has bought no lifetime series of ${dataset}.`);
  options(slot("series"), found.map((one) => one.name), series.name);
  slot("series").addEventListener("change", (event) => {
    location.hash = `#/lifetimes${path(dataset, event.target.value)}`;
  });
  slot("what").textContent = `${series.name}: ${series.what}`;
  facts(slot("facts"), series.facts.map(({ label, text }) => [label, text]));
  slot("issues").append(listed(series));
  slot("form").hidden = !series.may_ask;
  if (series.may_ask) offer(slot, api, series, signal);
  return undefined;
};

const listed = ({ name, dataset, issues }) => {
  const link = (release, text) => (release ? make("a", { href: `#/releases${path(dataset, release)}` }, text) : text);
  return table(
    `Issues of ${name}`,
    [
      { label: "Issue", numeric: true, cell: (row) => link(row.release, count(row.issue)) },
      { label: "Periods", cell: (row) => link(row.release, `${clock(row.start)} to ${clock(row.end)}`) },
      { label: "Asked by", cell: (row) => row.who },
      { label: "Request", cell: (row) => row.request || "–" },
      { label: "Takes", wide: true, cell: (row) => row.takes || "–" },
      { label: "Issued", cell: (row) => moment(row.issued) },
    ],
    issues,
    "Nothing was issued yet.",
  );
};

const often = (times) => (times === 1 ? "once" : `at most ${count(times)} times`);

const offer = (slot, api, series, signal) => {
  const form = slot("form");
  const { elements } = form;
  slot("rules").textContent =
    "An issue costs nothing of the budget. It takes shares of the life of everyone who is in it, so a period is " +
    `issued ${often(series.times)}, after it has ended, and analysts may ask for ` +
    `${count(series.most_a_month)} issues a month.`;
  slot("fresh").hidden = series.times === 1;
  slot("clip").hidden = !series.clip;
  if (series.clip) {
    [elements.low.placeholder, elements.high.placeholder] = series.clip.map((end) => number(end));
    [elements.low.min, elements.high.max] = series.widest ?? series.clip;
  }
  if (series.next) {
    elements.start.value = clock(series.next.start);
    elements.end.value = clock(series.next.end);
    elements.request.value = `${series.name} ${clock(series.next.start)}`;
  }
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const content = {
      request: elements.request.value.trim(),
      start: elements.start.value.trim(),
      end: elements.end.value.trim(),
      fresh: elements.fresh.checked,
    };
    const typed = [elements.low, elements.high].map(({ value }) => value.trim());
    if (series.clip && typed.some(Boolean)) {
      content.clip = typed.map((text, place) => (text ? Number(text) : series.clip[place]));
    }
    slot("ask").disabled = true;
    const address = `/datasets${path(series.dataset)}/lifetimes${path(series.name)}/issues`;
    const job = await submitTo(api, slot("job"), address, content, signal);
    slot("ask").disabled = false;
    if (job) location.hash = `#/releases${path(job.dataset, job.release)}`;
  });
};
