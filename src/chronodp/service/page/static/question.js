// The form of a question: what a dataset offers, and the question that the fields spell.

import { clipOf, clipWords, filterWords, mayFilter, periodsOf } from "./declared.js";
import { make, options } from "./dom.js";
import { treeOf } from "./places.js";

const BLOCKS = ["total", "peak", "trough"];
const WORKLOADS = {
  each_period: "each period",
  running_total: "running totals",
  rolling: "rolling means",
  ewm: "weighted means",
  filter: "a filter of ours",
  hierarchy: "longer periods too",
};
const KINDS = { rows: "rows", people: "people", totals: "people's totals" }; // of what a mean, a histogram or quantiles are
const MOST_KEYS = 30; // past which all keys go together

// Every measure, as the page came with it: its name for people, and what is said beside it.
const measuresOf = (form) =>
  Object.fromEntries(
    [...form.querySelectorAll("[data-slot=measures] option")].map((option) => [
      option.value,
      {
        title: option.label,
        names: option.dataset.arguments.split(" "),
        words: option.dataset.words.split(" ").filter(Boolean),
        column: option.dataset.arguments.includes("column"),
      },
    ]),
  );

// Sets the form to what a dataset offers.
export const offer = (form, slot, dataset) => {
  const { elements } = form;
  const known = measuresOf(form);
  const columns = Object.keys(dataset.columns);
  const usable = dataset.measures.filter((name) => name in known && (columns.length > 0 || !known[name].column));
  options(elements.measure, usable, usable.includes("sum") ? "sum" : usable[0], (name) => known[name].title);
  options(elements.column, columns, columns[0]);
  options(elements.workload, dataset.workloads, dataset.workloads[0], (name) => WORKLOADS[name]);
  options(elements.every, dataset.grids, dataset.every);
  const blocks = dataset.measures.filter((name) => BLOCKS.includes(name));
  options(elements.block, ["", ...blocks], "", (name) => name || "as they are");
  for (const name of ["start", "end", "max_periods"]) elements[name].value = "";
  elements.start.placeholder = dataset.start.slice(0, 10);
  elements.end.placeholder = dataset.end.slice(0, 10);
  elements.delta.value = Math.min(dataset.delta / 10, dataset.largest_delta);
  for (const name of ["norm", "where"]) elements[name].value = "";
  slot("where").hidden = !mayFilter(dataset);
  slot("where-note").textContent = filterWords(dataset);
  const ofPeople = dataset.unit.kind === "user"; // of other units no periods are chosen, and no whole series is scaled
  for (const box of form.querySelectorAll("[name=find]")) {
    const able = dataset.find_bounds.includes(box.value) && (ofPeople || box.value !== "max_periods");
    allow(box.closest("label"), able);
  }
  for (const box of form.querySelectorAll("[name=find], [name=missing]")) box.checked = false;
  slot("finds").hidden = dataset.find_bounds.length === 0;
  allow(slot("missing"), dataset.missing);
  allow(slot("norm"), ofPeople);
  slot("discovers").hidden = !dataset.discover;
  options(elements.discover, ["", ...(dataset.discover?.columns ?? [])], "", (name) => name || "no column");
  slot("max-keys").hidden = !ofPeople; // of other units the groups of a period are chosen
  elements.max_keys.max = dataset.discover?.max_keys ?? "";
  elements.max_keys.value = Math.min(10, dataset.discover?.max_keys ?? 1);
  slot("places").hidden = !dataset.places || Object.keys(dataset.groups).length === 0;
  elements.max_groups.max = dataset.max_groups ?? "";
  options(elements.places_column, ["", ...Object.keys(dataset.groups)], "", (name) => name || "no column");
  elements.places.value = "";
  delete form.dataset.bounds;
  offerGroups(slot("groups"), dataset);
  reveal(form, slot, dataset);
};

// What the policy does not allow stays hidden, whatever is measured.
const allow = (part, able) => {
  part.dataset.allowed = able ? "yes" : "no";
};

// What bounds are of: a column on a grid, or its rows.
const boundedBy = ({ column, every, of }, dataset) => ({
  column: column.value,
  every: every.value,
  rows: of.value === "rows" || dataset.user === null, // without people every row stands for itself
});

// Brings along the widest clip, edges along it, and how many periods of a person count; where they are as they were,
// what was typed stays.
const setBounds = (form, slot, dataset) => {
  const { column, every, low, high, edges, max_periods: periods } = form.elements;
  periods.placeholder = periodsOf(dataset, every.value);
  if (!column.value) return;
  const clip = clipOf(dataset, boundedBy(form.elements, dataset));
  slot("clip-note").textContent = clipWords(dataset, boundedBy(form.elements, dataset));
  const known = JSON.stringify([column.value, clip]);
  if (form.dataset.bounds === known) return;
  form.dataset.bounds = known;
  const along = ([from, to]) => [0, 1, 2, 3, 4, 5].map((part) => from + ((to - from) * part) / 5).join(", ");
  [low.value, high.value] = clip ?? ["", ""];
  edges.value = clip ? along(clip) : "";
};

const offerGroups = (fieldset, dataset) => {
  const columns = Object.entries(dataset.groups);
  fieldset.hidden = columns.length === 0;
  const legend = fieldset.firstElementChild;
  const tick = (name, value, text, on) =>
    make("label", { class: "tick" }, make("input", { type: "checkbox", name, value, checked: on }), ` ${text}`);
  fieldset.replaceChildren(
    legend,
    ...columns.map(([column, keys]) => {
      const few = keys.length <= MOST_KEYS ? keys.map((key) => tick(`key ${column}`, key, key, true)) : [];
      const all = few.length ? null : make("p", { class: "note" }, `all ${keys.length} keys`);
      return make(
        "div",
        {},
        tick("by", column, column, false),
        make("div", { class: "keys", "data-keys": column, role: "group", "aria-label": `Keys of ${column}` }, few, all),
      );
    }),
  );
};

// Shows the fields that the chosen measure and workload have, with the bounds that go with them.
export const reveal = (form, slot, dataset) => {
  const { measure, of, workload, block } = form.elements;
  const words = measuresOf(form)[measure.value]?.words ?? [];
  options(of, words, words.includes(of.value) && of.dataset.measure === measure.value ? of.value : words[0], (word) => KINDS[word]);
  of.dataset.measure = measure.value;
  for (const part of form.querySelectorAll("[data-for]")) {
    part.hidden = !part.dataset.for.split(" ").includes(measure.value) || part.dataset.allowed === "no";
  }
  setBounds(form, slot, dataset);
  for (const part of form.querySelectorAll("[data-workload]")) part.hidden = part.dataset.workload !== workload.value;
  const wanted = new FormData(form).getAll("by");
  for (const part of form.querySelectorAll("[data-keys]")) part.hidden = !wanted.includes(part.dataset.keys);
  const found = foundOf(form);
  const scaled = normOf(form) !== undefined;
  for (const name of ["low", "high"]) form.elements[name].disabled = found.includes("clip") || scaled;
  form.elements.edges.disabled = found.includes("edges");
  form.elements.norm.disabled = found.includes("clip");
  form.elements.max_periods.disabled = found.includes("max_periods");
  form.elements.block_every.disabled = block.value === "";
  form.querySelector("[data-slot=discovering]").hidden = form.elements.discover.value === "";
};

const figure = (text) => (String(text ?? "").trim() === "" ? undefined : Number(text));
const list = (text) => text.split(/[,;\s]+/).filter(Boolean).map(Number);

const ARGUMENTS = {
  column: ({ column }) => column,
  clip: ({ low, high }) => [figure(low), figure(high)],
  edges: ({ edges }) => list(edges),
  fractions: ({ fractions }) => list(fractions),
  of: ({ of }) => of,
  window: ({ window }) => window.trim(),
  max_stays: ({ max_stays: most }) => figure(most),
  at_most: ({ measure, of, at_most: most }) => (measure === "mean" && of !== "rows" ? undefined : figure(most)),
};

// The bounds that are to be found: those ticked, of what the measure and the dataset have.
const foundOf = (form) =>
  [...form.querySelectorAll("[name=find]:checked")].filter((box) => !box.closest("[hidden]")).map((box) => box.value);

const missingOf = (form) => {
  const box = form.querySelector("[name=missing]");
  return box.checked && !box.closest("[hidden]") ? {} : undefined;
};

// The norm that bounds a person's whole series, where one is typed in for a sum.
const normOf = (form) => {
  const { norm } = form.elements;
  return norm.closest("[hidden]") || norm.disabled ? undefined : figure(norm.value);
};

const fromZero = (form, dataset) => (clipOf(dataset, boundedBy(form.elements, dataset))?.[0] ?? 0) >= 0;

const findOf = (form, found, dataset) => {
  if (found.length === 0) return undefined;
  const sized = found.includes("clip") || found.includes("edges");
  return { bounds: found, from_zero: sized && fromZero(form, dataset) };
};

const measureOf = (form, fields, found, dataset) => {
  const { measure: kind, column } = fields;
  const norm = normOf(form);
  if (norm !== undefined) return { kind, column, norm, signed: !fromZero(form, dataset) };
  const names = measuresOf(form)[kind].names.filter((name) => !found.includes(name));
  const said = names.map((name) => [name, ARGUMENTS[name](fields)]);
  return { kind, ...Object.fromEntries(said) };
};

const workloadOf = ({ workload, periods, alpha, weights, levels }) => {
  const extra = {
    rolling: { periods: figure(periods) },
    ewm: { alpha: figure(alpha) },
    filter: { weights: list(weights) },
    hierarchy: { levels: list(levels) },
  };
  return { kind: workload, ...extra[workload] };
};

// Returns the question as the API takes it; what is empty is the dataset's own.
export const readQuestion = (form, dataset) => {
  const data = new FormData(form);
  const fields = Object.fromEntries(data);
  const found = foundOf(form);
  const by = {};
  for (const column of data.getAll("by")) {
    const keys = dataset.groups[column];
    by[column] = keys.length <= MOST_KEYS ? data.getAll(`key ${column}`) : keys;
  }
  const tree = fields.places_column && fields.places.trim() ? treeOf(fields.places) : undefined;
  if (tree) by[fields.places_column] = tree.leaves;
  if (fields.discover) by[fields.discover] = { max_keys: dataset.unit.kind === "user" ? figure(fields.max_keys) : undefined };
  return {
    measure: measureOf(form, fields, found, dataset),
    find: findOf(form, found, dataset),
    missing: missingOf(form),
    by,
    places: tree && { column: fields.places_column, names: tree.names, keys: tree.keys, children: tree.children },
    max_groups: Object.keys(by).length ? figure(fields.max_groups) : undefined,
    block: fields.block ? { statistic: fields.block, every: fields.block_every } : undefined,
    where: mayFilter(dataset) ? fields.where.trim() || undefined : undefined,
    every: fields.every,
    start: fields.start.trim() || undefined,
    end: fields.end.trim() || undefined,
    max_periods: figure(fields.max_periods),
    tuned_for: workloadOf(fields),
    epsilon: figure(fields.epsilon),
    delta: figure(fields.delta),
  };
};
