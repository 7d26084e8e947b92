import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { picture } from "../../tools/picture.mjs";
import { codeBlocks, localLinks } from "../support/markdown.ts";
import { manifest, packageRoot, readText, runNode } from "../support/package.ts";

const guides = readdirSync(`${packageRoot}docs/guides`).map((name) => `docs/guides/${name}`);
const pages = ["README.md", ...guides];
const more = ["docs/api", "docs/formats", "docs/decisions"].flatMap((folder) =>
  readdirSync(`${packageRoot}${folder}`).map((name) => `${folder}/${name}`),
);
const allPages = [
  ...[...pages, ...more],
  ...["bench/README.md", "bench/results/README.md"],
  ...["CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md"],
];
const blocks = pages.flatMap((page) =>
  codeBlocks(readText(page)).map((each) => ({ page, ...each })),
);

/** Inside of the package, so that a block can import it by name. */
const scratch = `${packageRoot}build/blocks`;

/** What the blocks leave behind among the temporary files goes with this one. */
const folder = mkdtempSync(join(tmpdir(), "outrider-docs-"));
const { TMPDIR } = process.env;

beforeAll(() => {
  process.env.TMPDIR = folder;
});

afterAll(() => {
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
  rmSync(folder, { recursive: true });
});

describe("documentation", () => {
  it.each(blocks)(
    "the block of $page at line $line runs and prints what it says",
    async (block) => {
      mkdirSync(scratch, { recursive: true });
      const file = `${scratch}/${block.page.replaceAll(/[^a-z]/gi, "-")}-${block.line}.mjs`;
      writeFileSync(file, block.code);
      const outcome = await runNode([file]);
      expect(outcome.stderr).toBe("");
      expect(outcome.code).toBe(0);
      if (block.prints !== undefined) expect(outcome.stdout).toBe(block.prints);
    },
  );

  it("a block is read with the output that stands right behind it", () => {
    const page =
      "# A\n```js\nlet a;\n```\n\n```text\n1\n```\nB\n```js\nlet b;\n```\nC\n```text\n2\n```\n";
    expect(codeBlocks(page)).toEqual([
      { line: 2, language: "js", code: "let a;\n", prints: "1\n" },
      { line: 10, language: "js", code: "let b;\n", prints: undefined },
    ]);
  });

  it.each(allPages)("every link of %s into the repository leads somewhere", (page) => {
    const broken = localLinks(readText(page)).filter(
      (target) => !existsSync(join(packageRoot, dirname(page), target)),
    );
    expect(broken).toEqual([]);
  });
});

describe("the picture in README", () => {
  it("is what its script draws, and README shows it", () => {
    expect(readText("docs/picture.svg"), "node tools/picture.mjs").toBe(picture);
    expect(readText("README.md")).toMatch(/!\[[^\]]{40,}\]\(docs\/picture\.svg\)/);
  });

  it("loads nothing and has colours for both schemes", () => {
    expect(picture).not.toMatch(/<script|<image|url\((?!#)|@import/);
    expect(picture).toContain("prefers-color-scheme: dark");
  });
});

describe("scripts", () => {
  it.each([...allPages, ".ci/run"])("every script that %s names exists", (page) => {
    const named = [...readText(page).matchAll(/npm run ([a-z][a-z:]*)/g)].map((match) => match[1]);
    expect(named.filter((name) => manifest.scripts[name as string] === undefined)).toEqual([]);
  });

  it("every file and every script that a script names exists", () => {
    const lines = Object.values(manifest.scripts).join("\n");
    const files = [...lines.matchAll(/node ([\w./-]+\.mjs)/g)].map((match) => match[1] as string);
    const scripts = [...lines.matchAll(/npm run ([a-z][a-z:]*)/g)].map(
      (match) => match[1] as string,
    );
    expect(files.filter((file) => !existsSync(`${packageRoot}${file}`))).toEqual([]);
    expect(scripts.filter((name) => manifest.scripts[name] === undefined)).toEqual([]);
  });

  it("continuous integration runs the README's test command, word for word", () => {
    expect(readText("README.md")).toContain("\nnpm cit");
    expect(readText(".ci/run")).toMatch(/^OUTRIDER_SKIPS=\S+ step .* npm cit$/m);
  });

  it("every public entry leads to a file that the build writes, with its types", () => {
    const targets = Object.values(manifest.exports).flatMap((each) =>
      typeof each === "string" ? [each] : [each.types, each.default],
    );
    expect(targets.filter((target) => !existsSync(join(packageRoot, target)))).toEqual([]);
  });
});
