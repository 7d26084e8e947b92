/**
 * Writes test/api/error-messages.txt: all messages of the product on one page, to be read aloud.
 *
 *   node tools/messages/write.mjs      after each change of a message; test/api/error-messages.test.ts keeps it current
 */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { readMessages } from "./read.mjs";

const FILE = fileURLToPath(new URL("../../test/api/error-messages.txt", import.meta.url));

const COLUMNS = 120;
/** Where the value of a message stood. */
const MARK = "\0";
/** A message of more names is said of any. */
const NAMES_MAX = 12;

/** @param {Map<string, string[]>} messages */
export function pageOf(messages) {
  const groups = [...messages].map(([title, texts]) => [title, ...linesOf(texts)]);
  const head = [
    "All messages that Outrider can throw or print, by code; <value> stands for what is put in.",
    "Several names before a colon: the same message for each.",
    "Written by: node tools/messages/write.mjs",
  ];
  return `${[head, ...groups].map((lines) => lines.join("\n")).join("\n\n")}\n`;
}

/** A message once, with all names that it is said of, or all values that are answered so. @param {readonly string[]} texts */
function linesOf(texts) {
  const byRest = grouped(texts, (text) => {
    const [, name = "", rest = text] = /^([^ ]+|rule '<id>'[^ ]*): (.*)$/.exec(text) ?? [];
    return [rest, name];
  });
  const lines = [...byRest].map(([rest, names]) => {
    const all = names.filter((name) => name !== "").sort();
    const said = all.length > NAMES_MAX ? ["<name>"] : all;
    return `${said.join(", ")}${said.length === 0 ? "" : ": "}${rest}`;
  });
  const byValue = grouped(lines, (line) => {
    const [, name, value, expected] = /^(.*?): (.*?) (\(expected: .*)$/.exec(line) ?? [];
    return name === undefined || value === "<value>"
      ? [line, ""]
      : [`${name}: ${MARK} ${expected}`, value ?? ""];
  });
  return [...byValue].sort().flatMap(([line, values]) => {
    if (values.length < 3) return values.map((value) => wrapped(line.replace(MARK, () => value)));
    return [wrapped(line.replace(MARK, "…")), ...values.map((value) => wrapped(`    … ${value}`))];
  });
}

/** @param {readonly string[]} texts @param {(text: string) => [string, string]} split */
function grouped(texts, split) {
  /** @type {Map<string, string[]>} */
  const groups = new Map();
  for (const text of texts) {
    const [key, value] = split(text);
    groups.set(key, [...(groups.get(key) ?? []), value]);
  }
  return groups;
}

/** @param {string} text */
function wrapped(text) {
  const indent = /^ */.exec(text)?.[0] ?? "";
  const lines = [""];
  for (const word of text.trim().split(" ")) {
    const last = lines.at(-1) ?? "";
    const isFull = last !== "" && last.length + word.length > COLUMNS;
    if (isFull) lines.push(word);
    else lines[lines.length - 1] = last === "" ? word : `${last} ${word}`;
  }
  return `  ${indent}${lines.join(`\n  ${indent}    `)}`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const messages = readMessages();
  writeFileSync(FILE, pageOf(messages));
  console.log(`test/api/error-messages.txt: ${[...messages.values()].flat().length} messages`);
}
