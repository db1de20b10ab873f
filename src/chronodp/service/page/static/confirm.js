// A question before something that cannot be taken back; what is safe has the focus.

import { make } from "./dom.js";

let asked = 0;

export const confirmed = ({ title, text, act }, signal) =>
  new Promise((resolve) => {
    const id = `asked-${(asked += 1)}`;
    const dialog = make(
      "dialog",
      { class: "asked", "aria-labelledby": id },
      make("h2", { id }, title),
      make("p", {}, text),
      make(
        "form",
        { method: "dialog", class: "buttons" },
        make("button", { value: "no", autofocus: true }, "Leave it"),
        make("button", { value: "yes", class: "danger" }, act),
      ),
    );
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(dialog.returnValue === "yes");
    });
    signal.addEventListener("abort", () => dialog.close("no"), { once: true });
    document.body.append(dialog);
    dialog.showModal();
  });
