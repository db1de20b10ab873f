// What releases claim, and an audit of the whole chain of certificates.

import { count, fill, make, moment, path, table } from "../dom.js";
import { pagedTable } from "../paged.js";
import { guarded } from "../refusal.js";

const NOTHING = "Nothing was released yet.";
const LOST = "The chain does not contain what the last audit saw: the ledger was set back.";

export const show = async (place, { api, me, signal }) => {
  const claims = await pagedTable({
    api,
    path: "/claims",
    signal,
    caption: "Claims",
    columns: [
      { label: "Mechanism", wide: true, cell: (claim) => claim.mechanism },
      { label: "Protects", cell: (claim) => claim.unit },
      { label: "Theorem", cell: (claim) => claim.theorem },
      { label: "Precision", wide: true, cell: (claim) => claim.precision },
      { label: "Argument", cell: (claim) => make("code", {}, claim.argument) },
      { label: "Releases", numeric: true, cell: (claim) => String(claim.releases) },
    ],
    empty: "Nothing was released yet, so nothing is claimed.",
  });
  const slot = fill(place, "claims");
  slot("claims").append(claims);
  if (me.role === "analyst") {
    slot("audit").hidden = true; // chains are for owners and auditors
    return;
  }
  const tell = () => slot("audited").replaceChildren(results(me.datasets.map((name) => recall(name)).filter(Boolean)));
  slot("run").addEventListener("click", async () => {
    await guarded(slot("audited"), async () => {
      for (const name of me.datasets) remember(await audit(api, name, signal));
    });
    if (!slot("audited").hasChildNodes()) tell();
  });
  tell();
};

// Checks a chain by stretches, each of which begins with the last link of the one before; `number` is a link to be seen.
const walk = async (api, dataset, number, signal) => {
  let links = 0;
  let last = null;
  let seen;
  for (;;) {
    const page = `/datasets${path(dataset)}/chain?after=${links}`;
    const { lines: chain, next } = await api.page(page, signal);
    if (number > links && number <= links + chain.links.length) seen = chain.links[number - links - 1].signature;
    const stretch = last ? [last, ...chain.links] : chain.links;
    const head = next ? null : chain.head;
    const verdict = stretch.length
      ? await api.post("/verify", { dataset, links: stretch, first: last ? links : 1, head }, signal)
      : { valid: true, why: NOTHING };
    links += chain.links.length;
    last = chain.links.at(-1) ?? last;
    if (!verdict.valid || !next) return { verdict, links, signature: last?.signature ?? "", seen };
  }
};

const audit = async (api, dataset, signal) => {
  const before = recall(dataset);
  const { verdict, links, signature, seen: found } = await walk(api, dataset, before?.links ?? 0, signal);
  const lost = before?.links > 0 && found !== before.signature;
  const when = new Date().toISOString();
  if (verdict.valid && !lost) {
    const why = links ? `All ${count(links)} links are genuine and none is missing up to the newest of them.` : NOTHING;
    return { dataset, valid: true, why, when, links, signature };
  }
  // What was seen once stays the measure until a genuine chain goes beyond it.
  const seen = { links: before?.links ?? 0, signature: before?.signature ?? "" };
  return { dataset, valid: false, why: lost ? LOST : verdict.why, when, ...seen };
};

const key = (dataset) => `audit of ${dataset}`;

const remember = (result) => {
  try {
    localStorage.setItem(key(result.dataset), JSON.stringify(result));
  } catch {
    // A browser that keeps nothing cannot compare with the last audit.
  }
};

const recall = (dataset) => {
  try {
    return JSON.parse(localStorage.getItem(key(dataset)));
  } catch {
    return null;
  }
};

const verdictOn = (valid) => make("span", { class: valid ? "good" : "bad" }, valid ? "Genuine" : "Not genuine");

const results = (found) =>
  table(
    "Last audit",
    [
      { label: "Dataset", cell: (row) => row.dataset },
      { label: "Result", cell: ({ valid }) => verdictOn(valid) },
      { label: "Why", wide: true, cell: (row) => row.why },
      { label: "Links", numeric: true, cell: (row) => String(row.links) },
      { label: "When", cell: (row) => moment(row.when) },
    ],
    found,
    "No audit was run in this browser.",
  );
