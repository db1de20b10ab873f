// Checking a downloaded release, certificate or chain: dropped or chosen.

import { fill, make, say } from "../dom.js";
import { guarded, refusalBox } from "../refusal.js";

const LARGEST = 32 * 2 ** 20;
const NAMED = 20; // requests of a long chain that are named

export const show = (place, { api, signal }) => {
  const slot = fill(place, "check");
  const [drop, file] = [slot("drop"), slot("file")];
  slot("choose").addEventListener("click", () => file.click());
  file.addEventListener("change", () => file.files[0] && check(api, slot("verdict"), file.files[0], signal));
  for (const kind of ["dragenter", "dragover"]) {
    drop.addEventListener(kind, (event) => {
      event.preventDefault();
      drop.classList.add("over");
    });
  }
  drop.addEventListener("dragleave", () => drop.classList.remove("over"));
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    drop.classList.remove("over");
    const [dropped] = event.dataTransfer.files;
    if (dropped) check(api, slot("verdict"), dropped, signal);
  });
};

const refuse = (place, message, mend) => place.replaceChildren(refusalBox({ message, mend }));

const check = async (api, place, file, signal) => {
  if (file.size > LARGEST) return refuse(place, "The file is too large.", "Check it with chronodp verify.");
  let content;
  try {
    content = JSON.parse(await file.text());
  } catch {
    return refuse(place, `${file.name} is not JSON.`, "Drop a file that was downloaded from a release.");
  }
  const { release, link, links, head } = content ?? {};
  if (!link && !links) {
    return refuse(place, `${file.name} holds no certificate.`, "Drop a release, certificate or chain.");
  }
  const asked = links ? { links, head } : { release, link };
  const found = await guarded(place, () => api.post("/verify", asked, signal));
  if (!found) return undefined;
  const words = found.valid ? "Genuine" : "Not genuine";
  place.replaceChildren(
    make(
      "div",
      { class: found.valid ? "verdict good" : "verdict bad" },
      make("h2", {}, words),
      make("p", {}, `${file.name}: ${found.why}`),
      make("p", { class: "note" }, `Requests: ${found.requests.slice(0, NAMED).join(", ") || "none"}`),
    ),
  );
  say(words);
  return undefined;
};
