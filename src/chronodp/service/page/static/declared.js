// What the owner declared of a dataset, as the form of a question needs it.

import { number } from "./dom.js";

// The widest clip of a column in periods of a length, or of its rows, however long a period is; null where none is
// declared.
export const clipOf = (dataset, { column, every, rows }) =>
  dataset.columns[column]?.clips[rows ? dataset.every : every] ?? null;

export const clipWords = (dataset, { column, every, rows }) => {
  const clip = clipOf(dataset, { column, every, rows });
  if (!clip) {
    const known = Object.keys(dataset.columns[column].clips).join(", ");
    return `The owner declared no bounds of ${column} in periods of ${every}, only of ${known}: choose one of these.`;
  }
  const widest = `The owner allows ${number(clip[0])} to ${number(clip[1])} ${rows ? "of a row" : `in periods of ${every}`}`;
  const usual = rows ? undefined : dataset.columns[column].usual[every];
  return usual === undefined ? `${widest}.` : `${widest}; one person usually has about ${number(usual)}, as declared.`;
};

// How many periods of a person count unless a question says otherwise.
export const periodsOf = (dataset, every) => dataset.most_periods[every] ?? "";

// Of rows that a filter leaves nobody declared how many people they are about: it does not go with a least group.
export const mayFilter = (dataset) => dataset.expression_columns.length > 0 && !dataset.least_group;

export const filterWords = ({ expression_columns: columns, expression_functions: functions }) =>
  `A condition over one row, of the columns ${columns.join(", ")}${functions.length ? ` with ${functions.join(", ")}` : ""}.`;
