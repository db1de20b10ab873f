// What the owner declared of a dataset, as the form of a question needs it.

import { number } from "./dom.js";

// The widest clip of a column in periods of a length; null where none is declared.
export const clipOf = (dataset, column) => dataset.columns[column]?.clip ?? null;

export const clipWords = (dataset, column, every) => {
  const clip = clipOf(dataset, column, every);
  if (!clip) return `The owner declared no bounds of ${column} for periods of ${every}: choose another length.`;
  const usual = dataset.columns[column].usual?.[every];
  const widest = `The owner allows ${number(clip[0])} to ${number(clip[1])} in periods of ${every}`;
  return usual === undefined ? `${widest}.` : `${widest}; one person usually has about ${number(usual)}, as declared.`;
};

// How many periods of a person count unless a question says otherwise.
export const periodsOf = (dataset) => dataset.max_periods;

// Of rows that a filter leaves nobody declared how many people they are about: it does not go with a least group.
export const mayFilter = (dataset) => dataset.expression_columns.length > 0 && !dataset.least_group;

export const filterWords = ({ expression_columns: columns, expression_functions: functions }) =>
  `A condition over one row, of the columns ${columns.join(", ")}${functions.length ? ` with ${functions.join(", ")}` : ""}.`;
