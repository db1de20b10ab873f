// What was published about whom, by whose question and at which price, newest first.

import { make, moment, number, path, table } from "../dom.js";
import { guarded } from "../refusal.js";

const PAGE = 20;

// Returns what shows the newest again, of the dataset that is chosen then.
export const showPublications = async (slot, api, chosen, signal) => {
  let rows = [];
  let older = null;
  const look = async (before = null) => {
    const query = new URLSearchParams({ limit: PAGE });
    if (slot("only").checked) query.set("dataset", chosen());
    if (before) query.set("before", before);
    const { lines, next } = await api.page(`/publications?${query}`, signal);
    [rows, older] = [before ? [...rows, ...lines] : lines, next];
    slot("published").replaceChildren(listed(rows));
    slot("older").hidden = older === null;
  };
  slot("only").addEventListener("change", () => guarded(slot("refusal"), () => look()));
  slot("older").addEventListener("click", () => guarded(slot("refusal"), () => look(older)));
  await look();
  return () => look();
};

const listed = (rows) =>
  table(
    "What was published about whom",
    [
      { label: "When", cell: ({ issued }) => moment(issued) },
      { label: "About whom", wide: true, cell: ({ unit }) => unit },
      { label: "What", wide: true, cell: link },
      { label: "Dataset", cell: ({ dataset }) => dataset },
      { label: "Asked by", cell: ({ who }) => who },
      { label: "ε at the dataset’s δ", numeric: true, cell: ({ epsilon }) => number(epsilon) },
    ],
    rows,
    "Nothing was published yet.",
  );

const link = ({ dataset, number: place, what }) => make("a", { href: `#/releases${path(dataset, place)}` }, what);
