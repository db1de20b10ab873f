// What was published about whom, by whose question and at which price, newest first.

import { make, moment, number, path } from "../dom.js";
import { pagedTable } from "../paged.js";
import { guarded } from "../refusal.js";

const PAGE = 20;

// Returns what shows the newest again, of the dataset that is chosen then.
export const showPublications = async (slot, api, chosen, signal) => {
  const look = async () => {
    const query = new URLSearchParams({ limit: PAGE });
    if (slot("only").checked) query.set("dataset", chosen());
    const caption = "What was published about whom";
    const empty = "Nothing was published yet.";
    const found = await pagedTable({ api, path: `/publications?${query}`, signal, caption, columns: COLUMNS, empty });
    slot("published").replaceChildren(found);
  };
  slot("only").addEventListener("change", () => guarded(slot("refusal"), look));
  await look();
  return look;
};

const link = ({ dataset, number: place, what }) => make("a", { href: `#/releases${path(dataset, place)}` }, what);

const COLUMNS = [
  { label: "When", cell: ({ issued }) => moment(issued) },
  { label: "About whom", wide: true, cell: ({ unit }) => unit },
  { label: "What", wide: true, cell: link },
  { label: "Dataset", cell: ({ dataset }) => dataset },
  { label: "Asked by", cell: ({ who }) => who },
  { label: "ε at the dataset’s δ", numeric: true, cell: ({ epsilon }) => number(epsilon) },
];
