// What releases claim, and an audit of the whole chain of certificates.

import { fill, make, moment, path, table } from "../dom.js";
import { guarded } from "../refusal.js";

const LOST = "The chain does not contain what the last audit saw: the ledger was set back.";

export const show = async (place, { api, me, signal }) => {
  const claims = await api.get("/claims", signal);
  const slot = fill(place, "claims");
  slot("claims").append(
    table(
      "Claims",
      [
        { label: "Mechanism", wide: true, cell: (claim) => claim.mechanism },
        { label: "Protects", cell: (claim) => claim.unit },
        { label: "Theorem", cell: (claim) => claim.theorem },
        { label: "Precision", wide: true, cell: (claim) => claim.precision },
        { label: "Argument", cell: (claim) => make("code", {}, claim.argument) },
        { label: "Releases", numeric: true, cell: (claim) => String(claim.releases) },
      ],
      claims,
      "Nothing was released yet, so nothing is claimed.",
    ),
  );
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

const audit = async (api, dataset, signal) => {
  const chain = await api.get(`/datasets${path(dataset)}/chain`, signal);
  const verdict = chain.links.length
    ? await api.post("/verify", { links: chain.links, head: chain.head }, signal)
    : { valid: true, why: "Nothing was released yet." };
  const before = recall(dataset);
  const lost = before?.links > 0 && chain.links[before.links - 1]?.signature !== before.signature;
  const when = new Date().toISOString();
  if (verdict.valid && !lost) {
    const signature = chain.links.at(-1)?.signature ?? "";
    return { dataset, valid: true, why: verdict.why, when, links: chain.links.length, signature };
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
