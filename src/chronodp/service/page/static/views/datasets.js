// What is public about every dataset.

import { count, facts, fill, make, number, path } from "../dom.js";

const KEYS = 8; // named on the card
const CARDS = 50; // at a time

export const show = async (place, { api, me, signal }) => {
  const found = await api.get("/datasets", signal);
  const slot = fill(place, "datasets");
  const more = make("button", { type: "button", class: "quiet" });
  const grow = () => {
    const shown = slot("list").querySelectorAll("article").length;
    more.before(...found.slice(shown, shown + CARDS).map((dataset) => card(dataset, me)));
    more.hidden = shown + CARDS >= found.length;
    more.textContent = `Show more (${count(Math.min(shown + CARDS, found.length))} of ${count(found.length)})`;
  };
  slot("list").append(more);
  more.addEventListener("click", grow);
  grow();
  if (found.length === 0) slot("list").append(make("p", {}, "There is no dataset for you: ask the owner."));
};

const card = (dataset, me) => {
  const list = make("dl", { class: "facts" });
  const columns = Object.entries(dataset.columns).map(([name, { clips, about }]) => {
    const widest = Object.entries(clips).map(([every, [low, high]]) => `${number(low)} to ${number(high)} in ${every}`);
    return `${name}, ${widest.join(", ")}${about ? `: ${about}` : ""}`;
  });
  const groups = Object.entries(dataset.groups).map(([name, keys]) => {
    const more = keys.length > KEYS ? ` and ${count(keys.length - KEYS)} more` : "";
    return `${name}: ${keys.slice(0, KEYS).join(", ")}${more}`;
  });
  const lasts = dataset.renews ? `anew every ${dataset.renews}` : "for ever";
  const rules = [
    `one release costs at most ε ${number(dataset.largest_epsilon ?? dataset.epsilon)}` +
      (dataset.delta ? `, counted at δ ${number(dataset.delta)}` : ""),
    `at most ${count(dataset.largest_cells)} numbers`,
    dataset.least_group ? `groups of at least ${count(dataset.least_group)} people, as declared` : null,
    dataset.expression_columns.length
      ? `filters and derived columns of ${dataset.expression_columns.join(", ")}` +
        (dataset.expression_functions.length ? ` with ${dataset.expression_functions.join(", ")}` : "")
      : null,
    dataset.find ? "bounds may be found by a private step" : null,
    dataset.share ? "releases are shared" : "releases are not shared",
  ];
  facts(list, [
    ["Protects", dataset.protects],
    ["Does not protect", dataset.does_not_protect],
    [
      "Grid",
      `${count(dataset.periods)} ${dataset.periods === 1 ? "period" : "periods"} of ${dataset.every}, ${dataset.start.slice(0, 10)} to ` +
        `${dataset.end.slice(0, 10)} (${dataset.timezone})`,
    ],
    ["People", dataset.people ? `about ${count(dataset.people)}, as declared` : "not declared"],
    ["Columns", columns.join("\n") || "none: people can be counted"],
    ["Groups", groups.join("\n") || "none"],
    ["May be asked", `${dataset.measures.join(", ")}; periods of ${dataset.grids.join(", ")}`],
    ["Rules", rules.filter(Boolean).join("\n")],
    ["Whole budget", `ε ${number(dataset.epsilon)}, δ ${number(dataset.delta)}, ${lasts}`],
  ]);
  const link = (view, text, main) =>
    make("a", { class: main ? "button main" : "button", href: `#/${view}${path(dataset.name)}` }, text);
  return make(
    "article",
    { class: "sheet" },
    make("h2", {}, dataset.name),
    dataset.about ? make("p", { class: "lead" }, dataset.about) : null,
    make(
      "div",
      { class: "buttons" },
      me.role === "auditor" ? null : link("ask", `Plan a question about ${dataset.name}`, true),
      link("releases", `Releases of ${dataset.name}`),
      link("budget", `Budget of ${dataset.name}`),
    ),
    list,
  );
};
