// What each_feature.py does, for programs in JavaScript.
"use strict";
const fs = require("node:fs");
const path = require("node:path");

const SQL = {};
for (const line of fs.readFileSync(path.join(__dirname, "statements.txt"), "utf8").split("\n")) {
  const at = line.indexOf(" = ");
  if (at > 0) SQL[line.slice(0, at)] = line.slice(at + 3);
}

const GIVEN = {
  int: 3,
  text: "paid",
  date: "1990-01-01",
  timestamp: new Date("2025-01-01T00:00:00Z"),
  list: ["paid", "shipped"],
  null: null,
};

const numbered = (name) => SQL[name].replace("?", "$1");

// The client has no such thing; the message says what it has.
class NotApplicable extends Error {}

async function run(version, features) {
  const only = process.argv.slice(2);
  console.log(JSON.stringify({ version }));
  for (const [feature, work] of Object.entries(features)) {
    if (only.length && !only.includes(feature)) continue;
    let line;
    try {
      line = { feature, value: await work() };
    } catch (error) {
      const absent = error instanceof NotApplicable;
      line = absent ? { feature, not_applicable: error.message } : { feature, error: String(error) };
    }
    console.log(JSON.stringify(line));
  }
}

// Lines of COPY, two columns each.
async function copied(stream) {
  let text = "";
  for await (const part of stream) text += part;
  return Object.fromEntries(text.trim().split("\n").map((line) => line.split("\t")));
}

module.exports = { SQL, GIVEN, numbered, run, copied, NotApplicable };
