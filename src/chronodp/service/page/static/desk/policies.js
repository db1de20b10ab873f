// What a policy allows, in words: of the one in force, and of one that is pasted.

import { count, make, path, say } from "../dom.js";
import { guarded, refusalBox } from "../refusal.js";

const NAMED = 20; // datasets of a long policy that are told

export const showPolicy = async (slot, api, dataset, signal) => {
  const [found] = await api.get(`/policy?dataset=${encodeURIComponent(dataset)}`, signal);
  slot("words").replaceChildren(...lines(found?.words ?? []));
};

export const offerCheck = (slot, api, signal) => {
  const form = slot("check");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const place = slot("checked");
    const found = await guarded(place, () => api.post("/policy/check", { text: form.elements.policy.value }, signal));
    if (!found) return;
    if (found.problem) {
      place.replaceChildren(refusalBox(found.problem));
      if (found.line) select(form.elements.policy, found.line);
      return;
    }
    const more = found.datasets.length - NAMED;
    place.replaceChildren(
      make("p", { class: "good" }, "This policy can be read. It would allow this:"),
      ...found.warnings.map((warning) => make("p", { class: "bad" }, `${warning}.`)),
      ...found.datasets.slice(0, NAMED).map(told),
      ...(more > 0 ? [make("p", { class: "note" }, `And ${count(more)} more datasets.`)] : []),
    );
    say("This policy can be read.");
  });
};

const lines = (words) => words.map((sentence) => make("li", {}, sentence));

const told = ({ dataset, words }) =>
  make("div", {}, make("h3", {}, dataset), make("ul", { class: "words" }, lines(words)));

// Marks the line that is wrong, so that it is seen and can be typed over.
const select = (area, line) => {
  const before = area.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  const end = area.value.indexOf("\n", before);
  area.focus();
  area.setSelectionRange(before, end < 0 ? area.value.length : end);
};
