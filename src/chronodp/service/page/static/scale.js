// The error of a plan beside how large the numbers are, by what the owner declared: nothing of it is read from data.

import { capital, number, percent } from "./dom.js";
import { errorOf, findsBounds, ofRanks, ofSums } from "./errors.js";

const factOf = (plan, label) => plan.facts.find((fact) => fact.label === label)?.text ?? "";

const partOf = (part) => (part < 0.001 ? "less than 0.1 %" : percent(part));

// The scale is of one period, and so must be the error, whatever the plan is tuned for.
const tunedElsewhere = (plan) => plan.design.tuned_for?.kind !== "each_period" && plan.bands.each_period !== undefined;

const inOnePeriod = (plan) => (tunedElsewhere(plan) ? Math.max(...plan.bands.each_period) : errorOf(plan));

// Returns {text, warning}: what to say, and whether it is a reason to stop.
export const scaleWords = (plan) => {
  if (ofRanks(plan) || findsBounds(plan) || ofSums(plan)) return { text: `${capital(factOf(plan, "Error"))}.`, warning: false };
  const error = inOnePeriod(plan);
  if (error === null) return { text: "The noise is too large for a number: nothing could be read from this release.", warning: true };
  const noise = `${tunedElsewhere(plan) ? "In one period " : ""}± ${number(error)}`;
  if (plan.scale === null) {
    const text = `${noise}. The owner declared no usual size: ${factOf(plan, "Useful") || "compare the error with the values you expect"}.`;
    return { text, warning: false };
  }
  const about = `about ${number(plan.scale, 3)} by the owner’s declarations`;
  if (error > plan.scale) {
    const text = `${noise} is more than the numbers themselves, ${about}: noise would hide them. Ask for longer periods, fewer groups or a larger ε.`;
    return { text, warning: true };
  }
  return { text: `${noise} of ${about} (${partOf(error / plan.scale)}).`, warning: false };
};

const cutsOf = ({ measure, max_periods: periods, horizon, groupings, max_groups: groups }) => {
  const { kind, clip, most, at_most: rows } = measure;
  const whose = kind.startsWith("row") ? "every row" : "every person’s total in a period";
  return [
    clip ? `${whose} is cut to ${number(clip[0])} to ${number(clip[1])}` : "",
    most ? `every person’s whole series is scaled to a length of at most ${number(most)}` : "",
    rows > 1 ? `at most ${number(rows)} rows of a person count in a period` : "",
    periods && periods < horizon ? `at most ${number(periods)} of ${number(horizon)} periods of a person count` : "",
    groupings?.length && groups ? `a person counts in at most ${number(groups)} ${groups === 1 ? "group" : "groups"} of a period` : "",
  ].filter(Boolean);
};

// What the band is of, and what it leaves out.
export const bandWords = (plan) => {
  const cuts = cutsOf(plan.design.table);
  const noise = "The band covers noise alone: 95 of 100 values lie within it around the number before noise. It is computed from the plan.";
  if (cuts.length === 0) return noise;
  const last = cuts.pop();
  const all = cuts.length ? `${cuts.join(", ")} and ${last}` : last;
  return `${noise} Before noise ${all}: what that takes away is in no band. If many people have more, the numbers are too small however narrow the band is.`;
};
