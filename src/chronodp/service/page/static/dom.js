// Elements made of text alone: nothing that a name holds is ever read as HTML.

// What does not stand for itself is seen and not obeyed: control and format signs, and those that turn letters around.
// Line breaks are our own; names of others go through `oneLine`.
export const shown = (text) =>
  String(text).replace(/[^\P{C}\n]|[\u2028\u2029]/gu, (sign) => `\\u{${sign.codePointAt(0).toString(16)}}`);

export const oneLine = (text) => shown(text).replaceAll("\n", "\\n");

export const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  const known = children.flat().filter((child) => child !== null && child !== undefined);
  element.append(...known.map((child) => (child instanceof Node ? child : shown(child))));
  return element;
};

// A view's markup stands in a template of the page; a script fills its slots. They stay those of this view when another
// has taken its place: what is answered late then changes nothing that is seen, and finds no slot missing.
export const fill = (place, view) => {
  const shown = document.getElementById(`view-${view}`).content.cloneNode(true).firstElementChild;
  place.replaceChildren(shown);
  return (name) => shown.querySelector(`[data-slot="${name}"]`);
};

export const say = (text) => {
  document.getElementById("status").textContent = text;
};

export const options = (select, values, chosen, name = (value) => value) => {
  select.replaceChildren(...values.map((value) => new Option(oneLine(name(value)), value, value === chosen, value === chosen)));
};

export const facts = (list, pairs) => {
  list.replaceChildren(...pairs.map(([label, text]) => make("div", {}, make("dt", {}, label), make("dd", {}, text))));
};

const ROWS = 100;

// A column is {label, cell} and perhaps numeric or wide; long tables grow on demand.
export const table = (caption, columns, rows, empty = "Nothing yet.", first = ROWS) => {
  if (rows.length === 0) return make("p", { class: "note" }, empty);
  const heads = columns.map(({ label, numeric }) => make("th", { scope: "col", class: numeric && "number" }, label));
  const kind = ({ numeric, wide }) => (numeric && "number") || (wide && "wide");
  const line = (row) =>
    make("tr", {}, columns.map((column) => make("td", { class: kind(column) }, column.cell(row))));
  const body = make("tbody", {}, rows.slice(0, first).map(line));
  const shown = make(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    make("table", {}, make("caption", { class: "unseen" }, caption), make("thead", {}, make("tr", {}, heads)), body),
  );
  const more = make("button", { type: "button", class: "quiet" });
  const tell = () => {
    more.hidden = body.rows.length >= rows.length;
    more.textContent = `Show more (${count(body.rows.length)} of ${count(rows.length)})`;
  };
  more.addEventListener("click", () => {
    body.append(...rows.slice(body.rows.length, body.rows.length + 10 * ROWS).map(line));
    tell();
  });
  tell();
  return make("div", {}, shown, more);
};

const digits = (most) => new Intl.NumberFormat("en-GB", { maximumSignificantDigits: most });
const FORMS = { 3: digits(3), 4: digits(4), 6: digits(6) };

export const number = (value, most = 4) => {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e9)) return Number(value.toPrecision(most)).toExponential();
  return FORMS[most].format(value);
};

// What is not known is a dash: a null from afar must not stop a page.
const unknown = (value) => value === null || value === undefined;

export const count = (value) => (unknown(value) ? "–" : value.toLocaleString("en-GB"));

export const percent = (share) =>
  unknown(share) ? "–" : `${(100 * share).toFixed(share > 0 && share < 0.1 ? 1 : 0)} %`;

// The clock as it was written: a time zone stays out of the way.
export const clock = (text) => {
  if (unknown(text)) return "–";
  const [date, time = ""] = String(text).split("T");
  const short = time.slice(0, 5);
  return short && short !== "00:00" ? `${date} ${short}` : date;
};

export const moment = (text) =>
  unknown(text) ? "–" : new Date(text).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });

export const capital = (text) => String(text ?? "").replace(/^./u, (first) => first.toUpperCase());

export const path = (...parts) => parts.map((part) => `/${encodeURIComponent(part)}`).join("");
