// A refusal told at the field that it names, with its mend.

import { make } from "./dom.js";
import { sentence } from "./refusal.js";

// Where an argument of the API has other names on the form.
const FIELDS = {
  clip: ["low", "high"],
  tuned_for: ["workload"],
  block: ["block", "block_every"],
  column: ["column"],
};
const TOLD = "told-at-field"; // the id of the words

const groupsOf = (form) => form.querySelector("[data-slot=groups]");

// The fields of an argument, such as measure.sum.clip.0: the last part that the form knows.
const fieldsOf = (form, argument) => {
  const parts = String(argument).split(".");
  if (parts[0] === "block") return FIELDS.block.map((name) => form.elements[name]);
  for (const part of parts.reverse()) {
    const found = (FIELDS[part] ?? [part]).flatMap((name) => {
      const named = form.elements.namedItem(name);
      return named instanceof RadioNodeList ? [...named] : [named ?? []].flat();
    });
    const shown = found.filter((field) => !field.closest("[hidden]") && !field.disabled);
    if (shown.length) return shown;
  }
  return [];
};

export const unpoint = (form) => {
  form.querySelector(`#${TOLD}`)?.remove();
  for (const field of form.querySelectorAll(`[aria-describedby=${TOLD}]`)) {
    field.removeAttribute("aria-describedby");
    field.removeAttribute("aria-invalid");
  }
};

// Points at what a problem names, if the form has it; groups are named by their column.
export const pointAt = (form, problem, columns) => {
  unpoint(form);
  if (!problem.argument) return;
  const words = make("p", { class: "wrong", id: TOLD }, sentence(problem.message), " ", problem.mend ? sentence(problem.mend) : "");
  const groups = groupsOf(form);
  if (!groups.hidden && (problem.argument === "by" || columns.includes(problem.argument))) {
    groups.append(words);
    groups.setAttribute("aria-describedby", TOLD);
    return;
  }
  const fields = fieldsOf(form, problem.argument);
  if (fields.length === 0) return;
  for (const field of fields) {
    field.setAttribute("aria-invalid", "true");
    field.setAttribute("aria-describedby", TOLD);
  }
  const folded = fields[0].closest("details");
  if (folded) folded.open = true;
  const beside = fields.at(-1).closest(".pair, .slide, label");
  beside.after(words);
};
