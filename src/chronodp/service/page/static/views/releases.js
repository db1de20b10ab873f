// The releases of a dataset, and what was submitted lately.

import { fill, make, moment, number, options, path } from "../dom.js";
import { pagedTable } from "../paged.js";

export const show = async (place, { api, me, signal }, wanted) => {
  const slot = fill(place, "releases");
  const name = me.datasets.includes(wanted) ? wanted : me.datasets[0];
  if (name === undefined) {
    slot("list").append(make("p", {}, "There is no dataset for you: ask the owner."));
    return;
  }
  options(slot("dataset"), me.datasets, name);
  slot("dataset").addEventListener("change", (event) => {
    location.hash = `#/releases${path(event.target.value)}`;
  });
  const link = (dataset, number, text) => make("a", { href: `#/releases${path(dataset, number)}` }, text);
  const [releases, jobs] = await Promise.all([
    pagedTable({
      api,
      path: `/datasets${path(name)}/releases`,
      signal,
      caption: `Releases of ${name}`,
      columns: [
        { label: "Number", numeric: true, cell: (row) => link(name, row.number, `${row.number}`) },
        { label: "What", wide: true, cell: (row) => link(name, row.number, row.what) },
        { label: "Asked by", cell: (row) => row.who },
        { label: "Request", cell: (row) => row.request },
        { label: "ε", numeric: true, cell: (row) => number(row.epsilon) },
        { label: "Released", cell: (row) => moment(row.issued) },
      ],
      empty: "Nothing was released yet.",
    }),
    pagedTable({
      api,
      path: "/jobs?limit=20",
      signal,
      caption: "Submitted lately",
      columns: [
        { label: "Request", cell: (job) => job.request },
        { label: "Dataset", cell: (job) => job.dataset },
        { label: "State", cell: (job) => (job.repeated ? `${job.state}, for nothing` : job.state) },
        {
          label: "Release",
          cell: ({ dataset, release, problem }) =>
            release ? link(dataset, release, `${release}`) : (problem?.message ?? "–"),
        },
        { label: "Submitted", cell: (job) => moment(job.submitted) },
      ],
    }),
  ]);
  slot("list").append(releases);
  slot("jobs").append(jobs);
};
