// Price against error: two sliders, each of which moves the other by way of plans.

import { number } from "./dom.js";
import { errorName, errorOf, errorText, ofRanks, spelled } from "./errors.js";

const STEPS = 1000;
const SPAN = 200; // the largest ε over the least
const TRIES = 4;
const CLOSE = 0.01;

const along = (low, high, place) => low * (high / low) ** (place / STEPS);
const place = (low, high, value) =>
  Math.round((STEPS * Math.log(Math.min(high, Math.max(low, value)) / low)) / Math.log(high / low));
const rounded = (value) => Number(value.toPrecision(3));

export class Exchange {
  constructor(form, slot, { price, error }) {
    this.field = form.elements.epsilon;
    this.epsilonSlider = form.querySelector("#epsilon-slider");
    this.errorSlider = form.querySelector("#error-slider");
    this.slot = slot;
    this.range = [0.01, 1];
    this.errors = null; // at the dearest and at the cheapest ε
    this.ranks = false; // whether errors are of ranks
    this.epsilonSlider.addEventListener("input", (event) => {
      event.stopPropagation();
      this.set(rounded(along(...this.range, Number(this.epsilonSlider.value))));
      price();
    });
    this.errorSlider.addEventListener("input", (event) => {
      event.stopPropagation();
      this.#tellError(spelled(this.wanted, this.ranks));
      error();
    });
    this.field.addEventListener("input", () => this.#tellPrice());
  }

  // Sets the range of ε that a dataset allows, and begins in the middle of it.
  open(largest) {
    this.range = [largest / SPAN, largest];
    this.set(rounded(Math.min(0.5, largest / 2)));
  }

  set(epsilon) {
    this.field.value = epsilon;
    this.#tellPrice();
  }

  get wanted() {
    return along(...this.errors, Number(this.errorSlider.value));
  }

  // Learns which errors the range of ε can buy; where an end of it is refused, none can be wanted.
  async measure(planAt) {
    this.forget();
    let ends;
    try {
      ends = [errorOf(await planAt(this.range[1])), errorOf(await planAt(this.range[0]))];
    } catch (error) {
      if (!error.problem) throw error;
      return;
    }
    this.errors = ends.every((end) => Number.isFinite(end) && end > 0) && ends[0] < ends[1] ? ends : null;
  }

  // No range of errors is known.
  forget() {
    this.errors = null;
    this.errorSlider.disabled = true;
  }

  // A question that is refused has no error.
  clear() {
    this.forget();
    this.#tellError("–");
  }

  // Follows a plan: its error is where the second slider stands.
  follow(plan) {
    const error = errorOf(plan);
    this.ranks = ofRanks(plan);
    if (error === null) this.forget(); // it hangs on bounds that are still to be found: none can be wanted
    this.errorSlider.disabled = this.errors === null;
    if (this.errors) this.errorSlider.value = place(...this.errors, error);
    this.slot("error-label").textContent = errorName(plan);
    this.#tellError(errorText(plan));
  }

  // Finds the ε that buys the wanted error: by the line through the ends, then by the error that plans tell.
  async seek(planAt) {
    const wanted = this.wanted;
    const [dear, cheap] = this.errors;
    const [least, most] = this.range;
    const slope = Math.log(most / least) / Math.log(dear / cheap);
    let epsilon = least * (wanted / cheap) ** slope;
    let plan = null;
    for (let tried = 0; tried < TRIES; tried += 1) {
      epsilon = rounded(Math.min(most, Math.max(least, epsilon)));
      plan = await planAt(epsilon);
      if (Math.abs(errorOf(plan) / wanted - 1) < CLOSE) break;
      epsilon *= errorOf(plan) / wanted;
    }
    this.set(plan.epsilon);
    return plan;
  }

  #tellPrice() {
    const epsilon = Number(this.field.value);
    this.slot("epsilon").textContent = number(epsilon, 3);
    if (epsilon > 0) this.epsilonSlider.value = place(...this.range, epsilon);
    this.epsilonSlider.setAttribute("aria-valuetext", `ε ${number(epsilon, 3)}`);
  }

  #tellError(text) {
    this.slot("error").textContent = text;
    this.errorSlider.setAttribute("aria-valuetext", text);
  }
}
