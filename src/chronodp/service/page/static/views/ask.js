// The plan builder: every change is planned at once; nothing is read until it is submitted.

import { fill, make, number, options, path, say } from "../dom.js";
import { errorOf, errorText, ofRanks } from "../errors.js";
import { Exchange } from "../exchange.js";
import { hidePlan, showPlan } from "../planned.js";
import { offer, readQuestion, reveal, setColumn } from "../question.js";
import { guarded } from "../refusal.js";
import { showReleased } from "../released.js";
import { inventRequest, submit } from "../submitting.js";

const SETTLED = 200; // milliseconds without a change after which it is planned

export const show = async (place, { api, signal }, wanted) => {
  const datasets = await api.get("/datasets", signal);
  const slot = fill(place, "ask");
  if (datasets.length === 0) {
    const sorry = make("p", {}, "There is no dataset for you: ask the owner.");
    place.replaceChildren(make("h1", {}, "Plan a question"), sorry);
    return;
  }
  const named = (name) => datasets.find((dataset) => dataset.name === name);
  const builder = new Builder(api, slot, signal);
  const names = datasets.map((dataset) => dataset.name);
  options(builder.form.elements.dataset, names, (named(wanted) ?? datasets[0]).name);
  builder.form.elements.dataset.addEventListener("change", (event) => builder.open(named(event.target.value)));
  builder.open(named(wanted) ?? datasets[0]);
};

class Builder {
  constructor(api, slot, signal) {
    this.api = api;
    this.slot = slot;
    this.signal = signal;
    this.form = slot("form");
    this.dataset = null;
    this.question = null; // the one whose plan is shown: what is submitted is what was planned
    this.measured = ""; // the question, ε aside, whose range of errors is known
    this.timer = null;
    this.planning = new AbortController();
    const soon = (plan) => () => this.#soon(plan);
    this.exchange = new Exchange(this.form, slot, {
      price: soon(() => this.#replan()),
      error: soon(() => this.#seek()),
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.form.addEventListener("input", (event) => {
      if (event.target.name === "dataset") return;
      if (["column", "every", "of"].includes(event.target.name)) setColumn(this.form, this.dataset);
      reveal(this.form);
      this.#soon(() => this.#replan());
    });
    slot("try").addEventListener("click", () => this.#try());
    slot("submit").addEventListener("submit", (event) => {
      event.preventDefault();
      this.#submit();
    });
    signal.addEventListener("abort", () => {
      clearTimeout(this.timer);
      this.planning.abort();
    });
  }

  open(dataset) {
    this.dataset = dataset;
    offer(this.form, this.slot, dataset);
    this.exchange.open(dataset.largest_epsilon ?? dataset.epsilon);
    this.slot("submit").elements.request.value = inventRequest(dataset.name);
    this.slot("trial").hidden = true;
    this.#soon(() => this.#replan(), 0);
  }

  #soon(plan, after = SETTLED) {
    clearTimeout(this.timer);
    this.planning.abort();
    this.planning = new AbortController();
    this.slot("answer").setAttribute("aria-busy", "true");
    for (const name of ["pay", "try"]) this.slot(name).disabled = true;
    this.timer = setTimeout(plan, after);
  }

  get #address() {
    return `/datasets${path(this.dataset.name)}`;
  }

  #planAt(question) {
    const { signal } = this.planning;
    return (epsilon) => this.api.post(`${this.#address}/plan`, { ...question, epsilon }, signal);
  }

  async #replan() {
    await this.#shown(async (question) => {
      const planAt = this.#planAt(question);
      const plan = await planAt(question.epsilon);
      this.exchange.follow(plan);
      showPlan(this.slot, plan);
      const key = JSON.stringify([this.dataset.name, { ...question, epsilon: 0 }]);
      if (errorOf(plan) === null) this.measured = "";
      else if (this.measured !== key) {
        this.measured = "";
        await this.exchange.measure(planAt);
        this.measured = key;
        this.exchange.follow(plan);
      }
      return plan;
    });
  }

  async #seek() {
    await this.#shown(async (question) => {
      const plan = await this.exchange.seek(this.#planAt(question));
      this.exchange.follow(plan);
      showPlan(this.slot, plan);
      return plan;
    });
  }

  async #shown(run) {
    const { signal } = this.planning;
    try {
      const question = readQuestion(this.form, this.dataset);
      const plan = await run(question);
      this.question = { ...question, epsilon: plan.epsilon };
      this.#allow(plan);
    } catch (error) {
      if (error.name === "AbortError") return;
      await guarded(this.slot("refusal"), () => Promise.reject(error));
      this.#forbid();
    }
    if (!signal.aborted) this.slot("answer").removeAttribute("aria-busy");
  }

  #allow(plan) {
    for (const name of ["pay", "try"]) this.slot(name).disabled = false;
    this.slot("pay").textContent = `Submit: spends ε ${number(plan.epsilon, 3)}`;
    const error = errorText(errorOf(plan), ofRanks(plan));
    say(`Planned: error ${error} at ε ${number(plan.epsilon, 3)}`);
  }

  #forbid() {
    hidePlan(this.slot);
    this.slot("pay").textContent = "Submit";
  }

  async #try() {
    const place = this.slot("job");
    place.replaceChildren(make("p", { class: "note" }, "Making up rows…"));
    const found = await guarded(place, () => this.api.post(`${this.#address}/try`, this.question, this.signal));
    if (!found) return;
    this.slot("trial").hidden = false;
    this.slot("trial-note").textContent = found.note;
    const about = `Line chart of ${found.table.title}, on made-up rows`;
    await showReleased(this.slot("trial-chart"), this.slot("trial-table"), found.table, { about });
    this.slot("trial").querySelector("h2").focus();
  }

  async #submit() {
    const { elements } = this.slot("submit");
    const content = { request: elements.request.value.trim(), question: this.question, fresh: elements.fresh.checked };
    this.slot("pay").disabled = true;
    const job = await submit(this.api, this.slot("job"), this.dataset.name, content, this.signal);
    this.slot("pay").disabled = false;
    if (job) location.hash = `#/releases${path(job.dataset, job.release)}`;
  }
}
