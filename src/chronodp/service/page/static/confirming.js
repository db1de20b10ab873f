// The question before anything is paid: price, what is left, the error beside the scale, and that nothing comes back.

import { facts, number, percent } from "./dom.js";
import { scaleWords } from "./scale.js";

const leftOf = ({ left, left_of_mine: mine }) =>
  [
    left === null ? "" : `${percent(left)} of the whole budget`,
    mine === null ? "" : `${percent(mine)} of your part`,
  ]
    .filter(Boolean)
    .join(", ");

const fillIn = (slot, dataset, plan, quote, request) => {
  const { text, warning } = scaleWords(plan);
  const price = `ε ${number(quote.epsilon, 3)}`;
  slot("confirm-title").textContent = quote.debits ? `Spend ${price} of ${dataset}?` : "Nothing is debited";
  const told = [
    ["Price", `${price} at the dataset’s δ of ${number(quote.delta)}, asked as ε ${number(plan.epsilon, 3)} at δ ${number(plan.delta)}`],
    ["Left after it", leftOf(quote)],
    ...(warning ? [] : [["Error", text]]),
    ["Request", request],
  ];
  facts(slot("confirm-facts"), quote.debits ? told : [["Request", request]]);
  slot("confirm-warning").hidden = !quote.debits || !warning;
  slot("confirm-warning").textContent = text;
  slot("confirm-note").textContent = quote.debits ? "This cannot be undone: what is spent never comes back." : quote.why;
  slot("confirm-yes").textContent = quote.debits ? `Spend ${price}` : "Show it";
};

// Asks; resolves with whether to go on. Escape and “Cancel” say no, and nothing happened then.
export const confirmed = (slot, { dataset, plan, quote, request }, signal) =>
  new Promise((resolve) => {
    const dialog = slot("confirm");
    fillIn(slot, dataset, plan, quote, request);
    const leave = () => dialog.close("");
    signal.addEventListener("abort", leave, { once: true });
    dialog.addEventListener(
      "close",
      () => {
        signal.removeEventListener("abort", leave);
        resolve(dialog.returnValue === "yes");
      },
      { once: true },
    );
    dialog.returnValue = "";
    dialog.showModal();
  });
