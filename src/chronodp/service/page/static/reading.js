// The form of a reading: what a part of a release offers, and the query that the fields spell.

import { make, options } from "./dom.js";

const READINGS = {
  each_period: "each period",
  running_total: "running total",
  rolling: "rolling mean",
  resample: "longer periods",
  quantile: "quantile",
};
const FORMS = {
  "": "numbers",
  over: "sum of all groups",
  share: "share of all groups",
  change: "change against a baseline",
  ratio: "ratio",
};
const FEW_ROWS = 20_000; // up to which all levels of places are shown at once
const FEW_KEYS = 200; // past which a key is searched for
const SEARCHED = 20;

// Sets the form to what a part offers.
export const offerPart = (form, slot, part, parts) => {
  const { elements } = form;
  options(elements.view, part.readings, "each_period", (name) => READINGS[name]);
  const groups = Object.entries(part.groups);
  const divisors = [
    ...parts.filter(({ name }) => name !== part.name).map(({ name }) => [`part ${name}`, name]),
    ...groups.flatMap(([column, keys]) => keys.slice(0, FEW_KEYS).map((key) => [`at ${column}=${key}`, `${column} ${key}`])),
  ];
  const able = { over: part.offers.includes("over") && !part.levels.length, ratio: divisors.length > 0 };
  const forms = Object.keys(FORMS).filter((name) => name === "" || (able[name] ?? part.offers.includes(name)));
  const offers = forms.filter((name) => name !== "ratio" || part.offers.includes("ratio"));
  options(elements.as, offers, "", (name) => FORMS[name]);
  const names = Object.fromEntries(divisors);
  options(elements.divisor, Object.keys(names), Object.keys(names)[0], (name) => names[name]);
  slot("level-fields").hidden = part.levels.length === 0;
  const fits = part.levels.filter(({ places }) => places * part.periods <= FEW_ROWS);
  const every = part.levels.reduce((sum, { places }) => sum + places, 0) * part.periods <= FEW_ROWS;
  const levels = part.levels.map(({ name }) => name);
  options(elements.places, [...(every ? [""] : []), ...levels], every ? "" : (fits.at(-1) ?? part.levels[0])?.name, (name) => name || "all levels");
  elements.place.value = "";
};

// Sets the ends of the baseline to the first quarter of what is shown, unless they are said.
export const offerBaseline = (form, rows) => {
  const { from, to } = form.elements;
  if (rows.length === 0) return;
  const dated = typeof rows[0][0] === "string";
  for (const field of [from, to]) field.type = dated ? "date" : "number";
  const day = (row) => (dated ? row[0].slice(0, 10) : row[0]);
  if (!from.value) from.value = day(rows[0]);
  if (!to.value) to.value = day(rows[Math.floor((rows.length - 1) / 4)]);
};

// Shows the fields that the chosen view, form and rule have.
export const revealReading = (form, part) => {
  const { view, as, rule, places } = form.elements;
  const chosen = { view: view.value, as: as.value, rule: rule.value };
  const quantile = view.value === "quantile" || !part.offers.includes("publish"); // no sums: nothing more is made of it
  for (const field of form.querySelectorAll("[data-view], [data-as], [data-rule], [data-more]")) {
    const other = Object.entries(chosen).some(([name, value]) => (field.dataset[name] ?? value) !== value);
    field.hidden = other || (quantile && "more" in field.dataset);
  }
  form.querySelector("[data-slot=level-fields]").hidden = quantile || part.levels.length === 0;
  form.querySelector("[data-slot=place-label]").hidden = places.value === "";
};

// Offers places of the chosen level that have the text in them.
export const searchPlaces = async (api, base, form, slot, signal) => {
  const { places, place, part } = form.elements;
  if (places.value === "" || place.value === "") return;
  const query = new URLSearchParams({ column: places.value, text: place.value, limit: SEARCHED });
  if (part.value) query.set("part", part.value);
  const keys = await api.get(`${base}/keys?${query}`, signal);
  slot("found-places").replaceChildren(...keys.map((key) => make("option", { value: key })));
};

const changeOf = ({ from, to, statistic, scale, match }) => [
  ["baseline", from],
  ["baseline", to],
  ["statistic", statistic],
  ["scale", scale],
  ...(match ? [["match", "weekday"]] : []),
];

const ratioOf = ({ divisor }) => {
  const [kind, ...rest] = divisor.split(" ");
  return [[kind === "part" ? "ratio_part" : "ratio_at", rest.join(" ")]];
};

const ruleOf = ({ rule, relative, points, chance }) => {
  if (rule === "relative") return [["relative", Number(relative) / 100]];
  if (rule === "points") return [["points", points], ["chance", Number(chance) / 100]];
  return [];
};

const placesOf = ({ places, place }) => {
  if (!places) return [];
  return place ? [["at", `${places}=${place}`]] : [["places", places]];
};

// Returns the query of the table route, of a part.
export const readReading = (form, part) => {
  const fields = Object.fromEntries(new FormData(form));
  const { view, as, level } = fields;
  const extra = { rolling: ["periods"], resample: ["every"], quantile: ["fraction"] }[view] ?? [];
  const said = [["view", view], ["level", level], ...extra.map((name) => [name, fields[name]])];
  if (part.name) said.push(["part", part.name]);
  if (view !== "quantile" && part.offers.includes("publish")) {
    const forms = { over: () => [["over_all", true]], share: () => [["share", true]], change: changeOf, ratio: ratioOf };
    said.push(...placesOf(fields), ...(forms[as]?.(fields) ?? []), ...ruleOf(fields));
  }
  return new URLSearchParams(said);
};
