// The owner's desk: budgets over time, policies in words, jobs, tokens, and what was published.

import { offerCheck, showPolicy } from "../desk/policies.js";
import { showJobs } from "../desk/jobs.js";
import { showPublications } from "../desk/publications.js";
import { showBudgets, showSpending } from "../desk/spending.js";
import { showTokens } from "../desk/tokens.js";
import { fill, options, path } from "../dom.js";
import { guarded } from "../refusal.js";

export const show = async (place, context, wanted) => {
  const { api, me, signal } = context;
  const slot = fill(place, "desk");
  const choice = slot("dataset");
  options(choice, me.datasets, me.datasets.includes(wanted) ? wanted : me.datasets[0]);
  const showDataset = () =>
    Promise.all([showSpending(slot, api, choice.value, signal), showPolicy(slot, api, choice.value, signal)]);
  slot("check").hidden = me.role !== "owner";
  if (me.role === "owner") offerCheck(slot, api, signal);
  const [publish] = await Promise.all([
    showPublications(slot, api, () => choice.value, signal),
    showDataset(),
    showBudgets(slot, api, signal),
    showJobs(slot, context),
    showTokens(slot, context),
  ]);
  choice.addEventListener("change", () => {
    // A new token, or a policy that was pasted, stays where it is.
    history.replaceState(null, "", `#/desk${path(choice.value)}`);
    guarded(slot("refusal"), () => Promise.all([showDataset(), publish()]));
  });
};
