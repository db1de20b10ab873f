// Tokens: made and shown once, listed without their secrets, revoked.

import { askFirst } from "../ask-first.js";
import { make, moment, say, table } from "../dom.js";
import { guarded } from "../refusal.js";

export const showTokens = async (slot, { api, me, signal }) => {
  const owner = me.role === "owner";
  slot("token").hidden = !owner;
  const list = async () => {
    const found = await api.get("/tokens", signal);
    slot("tokens").replaceChildren(listed(found, owner ? revoke : null));
  };
  const revoke = async (token) => {
    const mine = token.mine ? " It is the one that you are signed in with: you will be signed out." : "";
    const question = {
      title: `Revoke the token of ${token.name}?`,
      text: `Token ${token.id} (${token.role}) and every session that it opened end now, for good.${mine}`,
      act: "Revoke",
    };
    if (!(await askFirst(question, signal))) return;
    await guarded(slot("made"), async () => {
      await api.remove(`/tokens/${encodeURIComponent(token.id)}`, signal);
      await list();
      say(`The token of ${token.name} is revoked.`);
    });
  };
  if (owner) offerToken(slot, api, list, signal);
  await list();
};

const offerToken = (slot, api, list, signal) => {
  const form = slot("token");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { name, role, days } = form.elements;
    const asked = { name: name.value.trim(), role: role.value, days: Number(days.value) };
    const made = await guarded(slot("made"), () => api.post("/tokens", asked, signal));
    if (!made) return;
    form.reset();
    slot("made").replaceChildren(shown(made));
    await list();
  });
};

const shown = ({ name, role, token }) => {
  const field = make("input", { readonly: true, value: token, spellcheck: "false", autocomplete: "off" });
  field.addEventListener("focus", () => field.select());
  const copy = make("button", { type: "button" }, "Copy");
  copy.hidden = !navigator.clipboard; // a page without TLS has none
  copy.addEventListener("click", async () => {
    await navigator.clipboard.writeText(token).catch(() => field.focus());
    say("Copied.");
  });
  const label = make("label", { class: "wide" }, `The token of ${name} (${role}), shown this once`, field);
  return make("div", { class: "verdict good inline" }, label, copy);
};

const listed = (tokens, revoke) =>
  table(
    "Tokens",
    [
      { label: "Name", cell: (token) => (token.mine ? `${token.name} (you)` : token.name) },
      { label: "Role", cell: (token) => token.role },
      { label: "State", cell: (token) => token.state },
      ...(revoke ? [{ label: "Change", cell: (token) => revocable(token, revoke) }] : []),
      { label: "Expires", cell: (token) => moment(token.expires) },
      { label: "Made", cell: (token) => moment(token.made) },
      { label: "Id", cell: (token) => make("code", {}, token.id) },
    ],
    tokens,
  );

const revocable = (token, revoke) =>
  token.state === "valid"
    ? make(
        "button",
        { type: "button", class: "quiet", "aria-label": `Revoke the token of ${token.name}`, click: () => revoke(token) },
        "Revoke",
      )
    : "–";
