// The plan builder: every change is planned at once; nothing is read until it is submitted.

import { confirmed } from "../confirming.js";
import { fill, make, number, options, path, say } from "../dom.js";
import { errorOf, errorText } from "../errors.js";
import { Exchange } from "../exchange.js";
import { hidePlan, showPlan } from "../planned.js";
import { pointAt, unpoint } from "../pointing.js";
import { offer, readQuestion, reveal } from "../question.js";
import { guarded, refusalBox } from "../refusal.js";
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
    this.planned = null; // {question, plan} as shown; null while another is planned or was refused: nothing to submit
    this.submitting = false;
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
      reveal(this.form, slot, this.dataset);
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
    this.#soon(() => this.#replan(), 0);
  }

  // Plans a little later. What is shown until then is of another question: it says so, and cannot be submitted.
  #soon(plan, after = SETTLED) {
    clearTimeout(this.timer);
    this.planning.abort(); // an answer that comes late is nobody's
    this.planning = new AbortController();
    this.planned = null;
    this.slot("answer").setAttribute("aria-busy", "true");
    this.slot("stale").hidden = !this.slot("headline").hasChildNodes();
    this.slot("trial").hidden = true;
    this.slot("job").replaceChildren();
    this.#unlock();
    this.timer = setTimeout(plan, after);
  }

  #unlock() {
    this.slot("pay").disabled = this.planned === null || this.submitting;
    this.slot("try").disabled = this.planned === null;
  }

  get #address() {
    return `/datasets${path(this.dataset.name)}`;
  }

  #planAt(question) {
    const { signal } = this.planning;
    return async (epsilon) => {
      const plan = await this.api.post(`${this.#address}/plan`, { ...question, epsilon }, signal);
      signal.throwIfAborted();
      return plan;
    };
  }

  #replan() {
    return this.#guard(async () => {
      const question = readQuestion(this.form, this.dataset);
      const planAt = this.#planAt(question);
      const plan = await planAt(question.epsilon);
      this.#accept(question, plan);
      const key = JSON.stringify([this.dataset.name, { ...question, epsilon: 0 }]);
      if (errorOf(plan) === null || this.measured === key) return;
      await this.exchange.measure(planAt);
      this.measured = key;
      this.exchange.follow(plan);
    });
  }

  #seek() {
    return this.#guard(async () => {
      const question = readQuestion(this.form, this.dataset);
      const plan = await this.exchange.seek(this.#planAt(question));
      this.#accept({ ...question, epsilon: plan.epsilon }, plan);
    });
  }

  async #guard(run) {
    const { signal } = this.planning;
    try {
      await run();
    } catch (error) {
      if (signal.aborted || error.name === "AbortError") return;
      this.#refuse(error.problem ?? { message: "The page could not plan this.", mend: "Load it again, or tell the owner." });
      if (!error.problem) throw error;
    }
  }

  #accept(question, plan) {
    this.planned = { question, plan };
    unpoint(this.form);
    this.exchange.follow(plan);
    showPlan(this.slot, plan);
    this.#settle(`Submit: spends ε ${number(plan.epsilon, 3)}`);
    say(`Planned: error ${errorText(plan)} at ε ${number(plan.epsilon, 3)}`);
  }

  #refuse(problem) {
    hidePlan(this.slot);
    this.exchange.clear();
    this.measured = "";
    this.slot("refusal").replaceChildren(refusalBox(problem));
    pointAt(this.form, problem, Object.keys(this.dataset.groups));
    this.#settle("Submit");
  }

  #settle(pay) {
    this.slot("pay").textContent = pay;
    this.slot("stale").hidden = true;
    this.slot("answer").removeAttribute("aria-busy");
    this.#unlock();
  }

  async #try() {
    const { planned } = this;
    const place = this.slot("job");
    place.replaceChildren(make("p", { class: "note" }, "Making up rows…"));
    const ask = () => this.api.post(`${this.#address}/try`, planned.question, this.planning.signal);
    const found = await guarded(place, ask);
    if (!found || this.planned !== planned) return; // another question is on the form by now
    this.slot("trial").hidden = false;
    this.slot("trial-note").textContent = found.note;
    const about = `Line chart of ${found.table.title}, on made-up rows`;
    await showReleased(this.slot("trial-chart"), this.slot("trial-table"), found.table, { about });
    this.slot("trial").querySelector("h2").focus();
  }

  async #submit() {
    if (!this.planned || this.submitting) return;
    this.submitting = true;
    const { elements } = this.slot("submit");
    const content = {
      request: elements.request.value.trim(),
      question: this.planned.question,
      fresh: elements.fresh.checked,
    };
    try {
      if (await this.#confirm(content)) await this.#release(content);
    } finally {
      this.submitting = false;
      this.#unlock();
    }
  }

  // What it debits is asked at this moment: since the plan, others may have spent or asked the same.
  async #confirm(content) {
    const { planned, dataset } = this;
    const ask = () => this.api.post(`${this.#address}/quote`, content, this.planning.signal);
    const quote = await guarded(this.slot("job"), ask);
    if (!quote || this.planned !== planned) return false;
    const { request } = content;
    return confirmed({ dataset: dataset.name, plan: planned.plan, quote, request }, this.signal);
  }

  async #release(content) {
    this.#unlock();
    const job = await submit(this.api, this.slot("job"), this.dataset.name, content, this.signal);
    if (job) location.hash = `#/releases${path(job.dataset, job.release)}`;
  }
}
