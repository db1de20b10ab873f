// A question before something that cannot be taken back, or keeps others waiting; what is safe has the focus.

import { make } from "./dom.js";

let asked = 0;

// Resolves with whether to go on. Escape and “Cancel” say no.
export const askFirst = ({ title, text, act }, signal) =>
  new Promise((resolve) => {
    const id = `asked-${(asked += 1)}`;
    const dialog = make(
      "dialog",
      { class: "sheet stack", "aria-labelledby": id },
      make("h2", { id }, title),
      make("p", {}, text),
      make(
        "form",
        { method: "dialog", class: "buttons" },
        make("button", { value: "", autofocus: true }, "Cancel"),
        make("button", { value: "yes", class: "danger" }, act),
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
