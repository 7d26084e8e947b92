/**
 * Writes the API reference: docs/api/README.md with every name, and a page for each entry.
 *
 *   node tools/api/write.mjs           npm run docs:api; fails where a public name has no summary or an option no default
 *
 * The pages are committed, so that they can be read where the repository is; test/api/reference.test.ts keeps them current.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { problemsOf, readEntries } from "./read.mjs";

/** @import { Doc, Entry, Method, Property, Symbol } from "./read.mjs" */

const FOLDER = fileURLToPath(new URL("../../docs/api/", import.meta.url));
const KINDS = /** @type {const} */ ([
  ["function", "Functions"],
  ["class", "Classes"],
  ["constant", "Constants"],
  ["interface", "Interfaces"],
  ["type", "Types"],
]);

/** What a reader looks for first; the others follow by name. */
const FIRST = [
  ...["openFrontier", "Frontier", "FrontierOptions", "RequestInput", "PushResult", "Verdict"],
  ...["Lease", "Outcome", "Rule", "RulePolicy", "Politeness", "KeyPolicy", "EpochPolicy"],
  ...["Report", "FrontierEvents", "WorkerPool", "WorkerPoolOptions", "attach", "WorkerPort"],
  ...["crawl", "Crawl", "CrawlOptions", "CrawlSummary", "CrawlEvents"],
];

/** Those in FIRST, in its order, then the others. @param {readonly Symbol[]} symbols */
function ranked(symbols) {
  const listed = symbols.filter(({ name }) => FIRST.includes(name));
  listed.sort((a, b) => FIRST.indexOf(a.name) - FIRST.indexOf(b.name));
  return [...listed, ...symbols.filter(({ name }) => !FIRST.includes(name))];
}

/** Every page by its name. @param {readonly Entry[]} entries @returns {Map<string, string>} */
export function pagesOf(entries) {
  const homes = homesOf(entries);
  /** @type {[string, string][]} */
  const pages = entries.map((entry) => [fileOf(entry.name), pageOf(entry, homes)]);
  return new Map([["README.md", indexOf(entries, homes)], ...pages]);
}

/** @param {string} name */
function fileOf(name) {
  return `${name.replaceAll("/", "-")}.md`;
}

/** Where each name is described. Of two names that differ only in case the second gets a number, as renderers do. @param {readonly Entry[]} entries */
function homesOf(entries) {
  /** @type {Map<string, string>} */
  const homes = new Map();
  for (const { name, symbols } of entries) {
    /** @type {Map<string, number>} */
    const anchors = new Map();
    for (const symbol of KINDS.flatMap(([kind]) => symbols.filter((each) => each.kind === kind))) {
      if (symbol.origin !== name) continue;
      const anchor = symbol.name.toLowerCase();
      const before = anchors.get(anchor) ?? 0;
      anchors.set(anchor, before + 1);
      const suffix = before === 0 ? "" : `-${before}`;
      homes.set(symbol.name, `${fileOf(name)}#${anchor}${suffix}`);
    }
  }
  return homes;
}

/** @param {readonly Entry[]} entries @param {Map<string, string>} homes */
function indexOf(entries, homes) {
  const parts = entries.flatMap(({ name, doc, symbols }) => [
    `## [\`${name}\`](${fileOf(name)})`,
    "",
    doc,
    "",
    ...contentsOf(name, symbols, homes),
    "",
  ]);
  return [
    "# API reference",
    "",
    "Every public name of every entry, with each option's default, unit and cost.",
    "`npm run docs:api` generates these pages from the sources. Your editor shows the same text.",
    "",
    ...parts,
    "Errors are of class [FrontierError](outrider.md#frontiererror) and have a stable `code`.",
    "",
  ].join("\n");
}

/** A line of links for each kind. @param {string} name @param {readonly Symbol[]} symbols @param {Map<string, string>} homes */
function contentsOf(name, symbols, homes) {
  return KINDS.flatMap(([kind, title]) => {
    const own = ranked(symbols.filter((each) => each.kind === kind && each.origin === name));
    const links = own.map((each) => `[${each.name}](${homes.get(each.name)})`);
    return own.length === 0 ? [] : [`- **${title}**: ${links.join(", ")}`];
  });
}

/** @param {Entry} entry @param {Map<string, string>} homes */
function pageOf({ name, doc, symbols }, homes) {
  const own = symbols.filter(({ origin }) => origin === name);
  const others = symbols.filter(({ origin }) => origin !== name);
  const link = others.map((each) => `[${each.name}](${homes.get(each.name)})`).join(", ");
  return [
    `# ${name}`,
    "",
    doc,
    "",
    ...(others.length === 0 ? [] : [`Also exported here: ${link}.`, ""]),
    "[All entries](README.md)",
    "",
    ...contentsOf(name, symbols, homes),
    "",
    ...KINDS.flatMap(([kind, title]) => {
      const those = ranked(own.filter((each) => each.kind === kind));
      if (those.length === 0) return [];
      return [`## ${title}`, "", ...those.flatMap((each) => symbolLines(each, homes))];
    }),
  ].join("\n");
}

/** @param {Symbol} symbol @param {Map<string, string>} homes */
function symbolLines({ name, code, doc, bases, properties, methods }, homes) {
  const parents = bases.map((each) => typeText(each, homes)).join(", ");
  return [
    `### ${name}`,
    "",
    ...(code === undefined ? [] : ["```ts", code, "```", ""]),
    ...docLines(doc),
    ...(bases.length === 0 ? [] : [`Extends ${parents}.`, ""]),
    ...tableOf(properties, homes),
    ...methods.flatMap((method) => methodLines(name, method, homes)),
  ];
}

/** @param {string} owner @param {Method} method @param {Map<string, string>} homes */
function methodLines(owner, { name, signatures, doc, options }, homes) {
  const title = name.startsWith("[") ? `${owner}${name}()` : `${owner}.${name}()`;
  const label = name === "new" ? `new ${owner}()` : title;
  const code = signatures.map((each) => `${each.replace(/^constructor|^new/, `new ${owner}`)};`);
  return [
    `#### ${label.replaceAll(/([[\]])/g, "\\$1")}`,
    "",
    ...["```ts", ...code, "```", ""],
    ...docLines(doc),
    ...tableOf(options, homes),
  ];
}

/** @param {Doc} doc */
function docLines({ text, examples }) {
  const shown = examples.map((code) =>
    code.startsWith("```") ? code : `\`\`\`js\n${code}\n\`\`\``,
  );
  return [text, ...shown].flatMap((part) => (part === "" ? [] : [part, ""]));
}

/** Properties as a table; examples of theirs follow it. @param {readonly Property[]} properties @param {Map<string, string>} homes */
function tableOf(properties, homes) {
  if (properties.length === 0) return [];
  const hasDefaults = properties.some(({ doc }) => doc.defaultValue !== undefined);
  const head = ["name", "type", ...(hasDefaults ? ["default"] : []), "meaning"];
  const rows = properties.map(({ name, type, isOptional, doc }, at) => [
    `\`${name}${isOptional ? "?" : ""}\``,
    typeText(isParent(name, properties[at + 1]?.name) ? shortened(type) : type, homes),
    ...(hasDefaults ? [cell(doc.defaultValue ?? "")] : []),
    cell(doc.text.replaceAll(/```[\s\S]*?```/g, "")),
  ]);
  const line = (/** @type {string[]} */ cells) => `| ${cells.join(" | ")} |`;
  const examples = properties.flatMap(({ doc }) => [
    ...doc.examples.flatMap((each) => docLines({ text: "", examples: [each] })),
    ...[...doc.text.matchAll(/```[\s\S]*?```/g)].flatMap(([code]) => [code, ""]),
  ]);
  return [line(head), line(head.map(() => "---")), ...rows.map(line), "", ...examples];
}

/** Whether the next row is a field of this one. @param {string} name @param {string | undefined} next */
function isParent(name, next) {
  return next?.startsWith(name) === true && /^[.[(]/.test(next.slice(name.length));
}

/** A type whose objects have rows of their own. @param {string} type */
function shortened(type) {
  let depth = 0;
  let text = "";
  for (const letter of type) {
    if (letter === "{" && depth++ === 0) text += "{ … }";
    if (depth === 0) text += letter;
    if (letter === "}") depth--;
  }
  return text;
}

/** @param {string} text */
function cell(text) {
  return text.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").trim();
}

/** A type as code whose known names are links. @param {string} type @param {Map<string, string>} homes */
function typeText(type, homes) {
  const escaped = type.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const linked = escaped.replaceAll(/("[^"]*")|\b[A-Z]\w+\b/g, (word, quoted) => {
    const home = quoted === undefined ? homes.get(word) : undefined;
    return home === undefined ? word : `<a href="${home}">${word}</a>`;
  });
  return `<code>${linked.replaceAll("|", "\\|")}</code>`;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const entries = readEntries();
  const problems = problemsOf(entries);
  for (const problem of problems) console.error(problem);
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, text] of pagesOf(entries)) writeFileSync(`${FOLDER}${name}`, text);
  console.log(`docs/api: ${entries.length} entries, ${problems.length} problems`);
  process.exitCode = problems.length === 0 ? 0 : 1;
}
