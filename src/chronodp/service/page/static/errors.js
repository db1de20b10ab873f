// The error of a plan: how far noise carries a number, or of quantiles how many ranks they are off on average.

import { number } from "./dom.js";

export const ofRanks = (plan) => plan.design.kind === "quantile_design";

// Bounds that are still to be found decide the error.
export const findsBounds = (plan) => Array.isArray(plan.design.finds);

// A ratio is made of noisy sums: what the plan knows is their noise, and how far the ratio is off hangs on its size.
export const ofSums = (plan) =>
  !ofRanks(plan) && !findsBounds(plan) && plan.half_width !== null && Object.keys(plan.bands).length === 0;

// Null where it hangs on bounds that are still to be found, or is too large for a number.
export const errorOf = (plan) => (ofRanks(plan) ? (plan.alternatives[0]?.rank_error ?? null) : plan.half_width);

export const errorName = (plan) => {
  if (ofRanks(plan)) return "Error on average";
  return ofSums(plan) ? "Noise of its sums at 95 %" : "Error at 95 %";
};

export const spelled = (error, ranks) => (ranks ? `${number(error)} ranks` : `± ${number(error)}`);

export const errorText = (plan) => {
  const error = errorOf(plan);
  if (error !== null) return spelled(error, ofRanks(plan));
  return findsBounds(plan) ? "as found" : "too large to tell";
};
