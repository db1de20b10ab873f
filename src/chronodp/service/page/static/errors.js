// The error of a plan: how far noise carries a number, or of quantiles how many ranks they are off on average.

import { number } from "./dom.js";

export const ofRanks = (plan) => plan.design.kind === "quantile_design";

// Null where it hangs on bounds that are still to be found.
export const errorOf = (plan) => (ofRanks(plan) ? plan.alternatives[0].rank_error : plan.half_width);

export const errorText = (error, ranks) => {
  if (error === null) return "as bounds are found";
  return ranks ? `${number(error)} ranks` : `± ${number(error)}`;
};
