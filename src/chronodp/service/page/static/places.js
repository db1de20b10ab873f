// A table of places that was typed in, as the tree that the API takes.

import { Refused } from "./api.js";

const ALL = "all"; // the place over several tops, as the library calls it

const wrong = (message, mend) => {
  throw new Refused({ kind: "invalid_argument", argument: "places", message, mend }, 422);
};

const cells = (line) => line.split(/[,;\t]/).map((cell) => cell.trim().replace(/^"(.*)"$/, "$1"));

const rowsOf = (text) => {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const [names, ...rows] = lines.map(cells);
  if (rows.length === 0) wrong("The table of places has no places.", "Write the levels in the first line, then a line for each place.");
  rows.forEach((row, number) => {
    if (row.length !== names.length || row.includes("")) {
      wrong(`Line ${number + 2} has other columns than the first.`, `Write a key for each of ${names.join(", ")}.`);
    }
  });
  return [names, rows];
};

// Returns {names, keys, children, leaves}: every level's keys from the top down, and how many children each has.
export const treeOf = (text) => {
  const [named, given] = rowsOf(text);
  const several = new Set(given.map(([top]) => top)).size > 1;
  const names = several ? [ALL, ...named] : named;
  const rows = several ? given.map((row) => [ALL, ...row]) : given;
  if (names.length < 2) wrong("Places need two levels at least.", "Write what the places lie in before them.");
  let level = [[rows[0][0], rows]];
  const keys = [];
  const children = [];
  names.forEach((name, depth) => {
    keys.push(level.map(([key]) => key));
    const twice = keys[depth].find((key, place) => keys[depth].indexOf(key) !== place);
    if (twice !== undefined) wrong(`${twice} stands in two places of level ${name}.`, "Give each a key of its own.");
    if (depth === names.length - 1) {
      const same = level.find(([, own]) => own.length > 1);
      if (same) wrong(`${same[0]} stands in two lines.`, "Write each place once.");
      return;
    }
    const next = level.map(([, own]) => {
      const under = new Map();
      for (const row of own) under.set(row[depth + 1], [...(under.get(row[depth + 1]) ?? []), row]);
      return [...under];
    });
    children.push(next.map((under) => under.length));
    level = next.flat();
  });
  return { names, keys: keys.slice(0, -1), children, leaves: keys.at(-1) };
};
