// What waits: jobs held and resumed, one by one, of a dataset, or all.

import { askFirst } from "../ask-first.js";
import { make, moment, options, say, table } from "../dom.js";
import { guarded } from "../refusal.js";

const STATES = ["held", "waiting", "running"];
const LISTED = 50;

export const showJobs = async (slot, { api, me, signal, tellHealth }) => {
  const owner = me.role === "owner";
  slot("hold").hidden = !owner;
  const list = async () => {
    const [holds, ...jobs] = await Promise.all([
      api.get("/holds", signal),
      ...STATES.map((state) => api.get(`/jobs?state=${state}&limit=${LISTED}`, signal)),
    ]);
    slot("holds").replaceChildren(heldDatasets(holds, owner ? lift : null));
    slot("jobs").replaceChildren(openJobs(jobs.flat(), owner ? change : null));
    tellHealth();
  };
  const act = (words, run) =>
    guarded(slot("holding"), async () => {
      await run();
      await list();
      say(words);
    });
  const lift = (hold) => act("The hold is lifted.", () => api.remove(`/holds/${encodeURIComponent(hold.id)}`, signal));
  const change = async (job, verb) => {
    const question = {
      title: `Hold ${job.request}?`,
      text: "The job waits on disk and is not released until you resume it.",
      act: "Hold it",
    };
    if (verb === "hold" && !(await askFirst(question, signal))) return;
    const words = verb === "hold" ? "The job is held." : "The job is resumed.";
    await act(words, () => api.post(`/jobs/${encodeURIComponent(job.id)}/${verb}`, undefined, signal));
  };
  if (owner) offerHold(slot, me, act, api, signal);
  await list();
};

const named = (dataset) => dataset || "all datasets";

const offerHold = (slot, me, act, api, signal) => {
  const form = slot("hold");
  options(form.elements.dataset, ["", ...me.datasets], "", named);
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const { dataset, why } = form.elements;
    const asked = { dataset: dataset.value, why: why.value.trim() };
    const question = {
      title: `Hold jobs of ${named(asked.dataset)}?`,
      text: "No job of theirs that waits is taken until you lift the hold. Owners and auditors see why.",
      act: "Hold",
    };
    if (!(await askFirst(question, signal))) return;
    await act("Jobs are held.", async () => {
      await api.post("/holds", asked, signal);
      form.reset();
    });
  });
};

const button = (text, about, click) =>
  make("button", { type: "button", class: "quiet", "aria-label": about, click }, text);

const heldDatasets = (holds, lift) =>
  table(
    "Holds",
    [
      { label: "Held", cell: ({ dataset }) => named(dataset) },
      ...(lift ? [{ label: "Change", cell: (hold) => liftable(hold, lift) }] : []),
      { label: "Why", wide: true, cell: ({ why }) => why },
      { label: "By", cell: ({ by_whom: who }) => who || "the curator itself" },
      { label: "Since", cell: ({ made }) => moment(made) },
    ],
    holds,
    "Nothing is held.",
  );

const liftable = (hold, lift) => button("Lift", `Lift the hold of ${named(hold.dataset)}`, () => lift(hold));

const openJobs = (jobs, change) => {
  const offer = (job) => {
    const verb = { held: "resume", waiting: "hold" }[job.state];
    if (!verb) return "–";
    const word = verb === "hold" ? "Hold" : "Resume";
    return button(word, `${word} ${job.request}`, () => change(job, verb));
  };
  return table(
    "Jobs that wait, are held or are being released",
    [
      { label: "Request", cell: ({ request }) => request },
      { label: "State", cell: ({ state }) => state },
      ...(change ? [{ label: "Change", cell: offer }] : []),
      { label: "Dataset", cell: ({ dataset }) => dataset },
      { label: "Submitted", cell: ({ submitted }) => moment(submitted) },
    ],
    jobs,
    "No job waits.",
  );
};
