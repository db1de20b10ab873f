// What was refused and why: of a budget, what was asked, spent and left.

import { capital, make, number } from "./dom.js";

const SIZES = ["asked", "spent", "left", "limit"];

export const refusalBox = (problem) => {
  const box = make("div", { class: "refusal", role: "alert" }, make("p", { class: "head" }, sentence(problem.message)));
  if (problem.mend) box.append(make("p", {}, sentence(problem.mend)));
  if (typeof problem.asked === "number") {
    const sizes = SIZES.map((name) =>
      make("div", {}, make("dt", {}, capital(name)), make("dd", {}, number(problem[name]))),
    );
    box.append(make("dl", { class: "sizes" }, sizes));
    if (problem.measure) box.append(make("p", { class: "note" }, `Counted in ${problem.measure}.`));
  }
  return box;
};

// Runs what may be refused, and shows the refusal where there is one.
export const guarded = async (place, run) => {
  try {
    const found = await run();
    place.replaceChildren();
    return found;
  } catch (error) {
    if (error.name === "AbortError") return undefined;
    if (!error.problem) throw error;
    place.replaceChildren(refusalBox(error.problem));
    return undefined;
  }
};

export const sentence = (text) => {
  const whole = capital(text);
  return /[.!?]$/.test(whole) ? whole : `${whole}.`;
};
