// Submitting a question and waiting for its release.

import { make, path, say } from "./dom.js";
import { guarded } from "./refusal.js";

const FIRST_LOOK = 200;
const LONGEST_LOOK = 1500;
const STATES = {
  waiting: "Waiting for its turn…",
  held: "Held by the owner: it waits…",
  running: "Being released…",
};

const pause = (milliseconds, signal) =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, milliseconds);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new DOMException("left", "AbortError"));
    });
  });

// An id that nobody has to think of; the date keeps it findable.
export const inventRequest = (dataset) => {
  const random = [...crypto.getRandomValues(new Uint8Array(3))].map((byte) => byte.toString(16).padStart(2, "0"));
  return `${dataset}-${new Date().toISOString().slice(0, 10)}-${random.join("")}`;
};

export const submit = (api, place, dataset, content, signal) =>
  guarded(place, async () => {
    let job = await api.post(`/datasets${path(dataset)}/jobs`, content, signal);
    let look = FIRST_LOOK;
    while (job.state in STATES || (job.state === "done" && job.release === null)) {
      place.replaceChildren(make("p", { class: "note" }, STATES[job.state] ?? STATES.running));
      await pause(look, signal);
      look = Math.min(2 * look, LONGEST_LOOK);
      job = await api.get(`/jobs${path(job.id)}`, signal);
    }
    if (job.state !== "done") {
      const again = { message: `The job is ${job.state}.`, mend: "Ask again with the same request id." };
      const problem = job.problem ?? again;
      throw Object.assign(new Error(problem.message), { problem });
    }
    say(job.repeated ? "Answered from an earlier release, for nothing." : "Released.");
    return job;
  });

