/**
 * What the rules look at: a file's path, text and syntax tree, and the ways around in it.
 */
import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import ts from "typescript";

/** Rooms of CONTRIBUTING.md, and entries. */
export const ROOMS = [
  "layout",
  "base",
  "memory",
  "kernel",
  "structures",
  "url",
  "frontier",
  "persistence",
  "workers",
  "engine",
  "integrations",
  "server",
  "crawl",
  "cli",
];
export const ENTRIES = [
  ...["index", "pool", "worker", "crawl", "server", "redis", "crawlee", "tools", "testing"],
].map((name) => `src/${name}.ts`);
/** The entry of the library's own threads, in both of Node's kinds of module. */
export const THREAD_ENTRY = ["src/thread.ts", "src/thread.cts"];
/** Rooms 0–4 are synchronous and deterministic. */
export const PURE_ROOMS = ["layout", "base", "memory", "kernel", "structures", "url", "frontier"];

const SCRIPT = /\.(ts|mts|cts|js|mjs|cjs)$/;
const FIXTURES = "test/tidy/fixtures/";

/** Files of the tree at `root`: what git would keep there, or all of it outside a repository. */
export function readTree(root) {
  const git = spawnSync("git", ["ls-files", "-z", "-co", "--exclude-standard"], {
    cwd: root,
    encoding: "utf8",
  });
  const paths = git.status === 0 ? git.stdout.split("\0") : walk(root, "");
  const files = [];
  for (const path of paths) {
    if (path === "" || path.startsWith(FIXTURES)) continue;
    const text = textOf(join(root, path));
    if (text !== undefined) files.push({ path, text });
  }
  return files;
}

/** All files below a folder: for fixture trees and unpacked sources. */
export function walk(root, below) {
  return readdirSync(join(root, below), { withFileTypes: true }).flatMap((entry) => {
    const path = below === "" ? entry.name : `${below}/${entry.name}`;
    if (entry.isDirectory())
      return ["node_modules", "dist", "build", ".git"].includes(entry.name) ? [] : walk(root, path);
    return entry.isFile() ? [path] : [];
  });
}

/** A file's text; undefined for what is gone, a link to a folder, or not text. */
function textOf(path) {
  try {
    const text = readFileSync(path, "utf8");
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

export const isScript = (path) => SCRIPT.test(path);

/** The room of a file below src/, or undefined. */
export const roomOf = (path) => /^src\/([^/]+)\//.exec(path)?.[1];

/** The file with its syntax tree. */
export function parse({ path, text }) {
  const kind = /\.[mc]?ts$/.test(path) ? ts.ScriptKind.TS : ts.ScriptKind.JS;
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ES2023, true, kind);
  return { path, text, tree, lines: text.split("\n") };
}

/** 1-based line of a position. */
export const lineAt = (tree, position) => tree.getLineAndCharacterOfPosition(position).line + 1;

/** Calls `visit` for every node, parents first. */
export function visitAll(node, visit) {
  visit(node);
  ts.forEachChild(node, (child) => visitAll(child, visit));
}

/** Calls `visit(text, position)` for every comment, once. */
export function visitComments(tree, visit) {
  const seen = new Set();
  const text = tree.text;
  const at = (ranges) => {
    for (const range of ranges ?? []) {
      if (seen.has(range.pos)) continue;
      seen.add(range.pos);
      visit(text.slice(range.pos, range.end), range.pos, range.end);
    }
  };
  const each = (node) => {
    at(ts.getLeadingCommentRanges(text, node.getFullStart()));
    at(ts.getTrailingCommentRanges(text, node.getEnd()));
    for (const child of node.getChildren(tree)) each(child);
  };
  each(tree);
}

/** Marked @hot in its own comment. */
export const isHotFunction = (node) =>
  ts.getJSDocTags(node).some((tag) => tag.tagName.text === "hot");

/** True where a name stands for a type only: annotations, `typeof` types, `import type`. */
export function isInType(node) {
  for (let at = node; at !== undefined; at = at.parent) {
    if (ts.isTypeNode(at) || ts.isInterfaceDeclaration(at) || ts.isTypeAliasDeclaration(at)) {
      // `class A extends B` holds B in an ExpressionWithTypeArguments, which counts as a type node.
      if (!ts.isExpressionWithTypeArguments(at) || isTypeHeritage(at)) return true;
    }
    if (ts.isStatement(at)) return false;
  }
  return false;
}

function isTypeHeritage(node) {
  const clause = node.parent;
  return (
    ts.isHeritageClause(clause) &&
    (clause.token === ts.SyntaxKind.ImplementsKeyword || ts.isInterfaceDeclaration(clause.parent))
  );
}
