// The question before anything is paid: price, what is left, the error beside the scale, and that nothing comes back.

import { askFirst } from "./ask-first.js";
import { facts, make, number, percent } from "./dom.js";
import { scaleWords } from "./scale.js";

const leftOf = ({ left, left_of_mine: mine }) =>
  [
    left === null ? "" : `${percent(left)} of the whole budget`,
    mine === null ? "" : `${percent(mine)} of your part`,
  ]
    .filter(Boolean)
    .join(", ");

const listed = (pairs) => {
  const list = make("dl", { class: "facts" });
  facts(list, pairs);
  return list;
};

// Asks; resolves with whether to go on.
export const confirmed = ({ dataset, plan, quote, request }, signal) => {
  if (!quote.debits) {
    const free = { title: "Nothing is debited", before: [listed([["Request", request]])], text: quote.why, act: "Show it" };
    return askFirst({ ...free, kind: "main" }, signal);
  }
  const { text, warning } = scaleWords(plan);
  const price = `ε ${number(quote.epsilon, 3)}`;
  const asked = `asked as ε ${number(plan.epsilon, 3)} at δ ${number(plan.delta)}`;
  const told = [
    ["Price", `${price} at the dataset’s δ of ${number(quote.delta)}, ${asked}`],
    ["Left after it", leftOf(quote)],
    ...(warning ? [] : [["Error", text]]),
    ["Request", request],
  ];
  return askFirst(
    {
      title: `Spend ${price} of ${dataset}?`,
      before: [listed(told), warning ? make("p", { class: "scale warning" }, text) : null],
      text: "This cannot be undone: what is spent never comes back.",
      act: `Spend ${price}`,
      kind: "main",
    },
    signal,
  );
};
