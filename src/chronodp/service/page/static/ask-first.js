// A question before something that cannot be taken back, or keeps others waiting; what is safe has the focus.

import { make } from "./dom.js";

let asked = 0;

// Resolves with whether to go on. Escape and “Cancel” say no. What stands before the text may be more than words.
export const askFirst = ({ title, before = [], text, act, kind = "danger" }, signal) =>
  new Promise((resolve) => {
    const id = `asked-${(asked += 1)}`;
    const dialog = make(
      "dialog",
      { class: "sheet stack", "aria-labelledby": id, "data-slot": "confirm" },
      make("h2", { id }, title),
      before,
      make("p", {}, text),
      make(
        "form",
        { method: "dialog", class: "buttons" },
        make("button", { value: "", autofocus: true }, "Cancel"),
        make("button", { value: "yes", class: kind, "data-slot": "confirm-yes" }, act),
      ),
    );
    const leave = () => dialog.close("");
    dialog.addEventListener("close", () => {
      signal.removeEventListener("abort", leave);
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    signal.addEventListener("abort", leave, { once: true });
    document.body.append(dialog);
    dialog.showModal();
  });
