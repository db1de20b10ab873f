// Signing in with a token.

import { fill, make } from "../dom.js";
import { guarded } from "../refusal.js";

export const show = (place, { api, why, enter }) => {
  const slot = fill(place, "sign-in");
  if (why) slot("refusal").append(make("p", { class: "banner" }, why));
  slot("form").addEventListener("submit", async (event) => {
    event.preventDefault();
    const token = new FormData(event.target).get("token").trim();
    const done = await guarded(slot("refusal"), () => api.signIn(token).then(() => true));
    if (done) await enter();
  });
};
