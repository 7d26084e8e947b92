/**
 * Counts the code lines of `src/` and `assembly/`, room by room.
 *
 *   node tools/count-lines.mjs             the files of the working tree
 *   node tools/count-lines.mjs REV         the files of a commit
 *   node tools/count-lines.mjs REV REV     two commits side by side, with the difference
 *
 * A code line holds at least one character of a token: a line that is blank or holds only comment
 * does not count, a lone bracket does. TypeScript's own parser finds the tokens, so a comment mark
 * inside a string or a template counts as code, and a comment after code does not hide the line.
 * The lines of a template's text count unless they are blank. Declaration files count too.
 */
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("..", import.meta.url));
const FOLDERS = ["src", "assembly"];
const LARGEST_OUTPUT_BYTES = 1 << 28;

/** How many lines of `text` hold a token. */
export function codeLines(text) {
  const file = ts.createSourceFile("file.ts", text, ts.ScriptTarget.Latest, true);
  const starts = file.getLineStarts();
  const isCode = new Uint8Array(starts.length);
  const visit = (node) => {
    const isComment =
      node.kind >= ts.SyntaxKind.FirstJSDocNode && node.kind <= ts.SyntaxKind.LastJSDocNode;
    if (isComment) return;
    const children = node.getChildren(file);
    if (children.length > 0) {
      for (const child of children) visit(child);
      return;
    }
    const start = node.getStart(file);
    if (start === node.end) return;
    const first = file.getLineAndCharacterOfPosition(start).line;
    const last = file.getLineAndCharacterOfPosition(node.end - 1).line;
    isCode.fill(1, first, last + 1);
  };
  visit(file);
  const lines = text.split(/\r?\n/);
  return isCode.reduce((sum, code, at) => sum + (code === 1 && lines[at].trim() !== "" ? 1 : 0), 0);
}

function git(args, input = "") {
  return execFileSync("git", args, { cwd: root, input, maxBuffer: LARGEST_OUTPUT_BYTES });
}

const isCounted = (path) => path.endsWith(".ts") || path.endsWith(".cts");
const listed = (...args) => git(args).toString().split("\0").filter(isCounted);

/** Path and text of each counted file, of a commit or of the working tree. */
function files(revision) {
  if (revision !== undefined) {
    return blobs(revision, listed("ls-tree", "-rz", "--name-only", revision, ...FOLDERS));
  }
  const kinds = ["--cached", "--others", "--exclude-standard"];
  const paths = [...new Set(listed("ls-files", "-z", ...kinds, ...FOLDERS))];
  return paths.flatMap((path) => {
    const text = textIfPresent(path);
    return text === undefined ? [] : [{ path, text }];
  });
}

/** One `cat-file` for all: each answer is a line that ends in the size, the bytes, a line feed. */
function blobs(revision, paths) {
  const out = git(["cat-file", "--batch"], paths.map((path) => `${revision}:${path}\n`).join(""));
  let offset = 0;
  return paths.map((path) => {
    const start = out.indexOf(10, offset) + 1;
    const end = start + Number(out.toString("latin1", offset, start).trim().split(" ").at(-1));
    offset = end + 1;
    return { path, text: out.toString("utf8", start, end) };
  });
}

/** A file deleted but still in the index is not part of the working tree. */
function textIfPresent(path) {
  try {
    return readFileSync(new URL(`../${path}`, import.meta.url), "utf8");
  } catch (error) {
    if (error.code === "ENOENT") return undefined;
    throw error;
  }
}

/** `src/engine/…` belongs to `src/engine`; a file directly in `src` belongs to `src`. */
function roomOf(path) {
  const parts = path.split("/");
  return parts.length > 2 ? parts.slice(0, 2).join("/") : parts[0];
}

/** Room → { files, lines }, and the whole under "all". */
function count(revision) {
  const rooms = new Map([["all", { files: 0, lines: 0 }]]);
  for (const { path, text } of files(revision)) {
    const lines = codeLines(text);
    const room = roomOf(path);
    if (!rooms.has(room)) rooms.set(room, { files: 0, lines: 0 });
    for (const entry of [rooms.get(room), rooms.get("all")]) {
      entry.files += 1;
      entry.lines += lines;
    }
  }
  return rooms;
}

function print(before, after) {
  const names = [...new Set([...before.keys(), ...after.keys()])].filter((name) => name !== "all");
  for (const name of [...names.sort(), "all"]) {
    const old = before.get(name)?.lines ?? 0;
    const { files: number, lines } = after.get(name) ?? { files: 0, lines: 0 };
    const row = `${name.padEnd(20)}${String(number).padStart(5)} files${String(lines).padStart(8)}`;
    if (before === after) console.log(row);
    else {
      const change = lines - old;
      const percent = old === 0 ? "new" : `${((100 * change) / old).toFixed(1)} %`;
      console.log(`${row}  from ${String(old).padStart(6)}  ${change}  (${percent})`);
    }
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [first, second] = process.argv.slice(2);
  const before = count(first);
  print(before, second === undefined ? before : count(second));
}
