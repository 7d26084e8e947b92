/** The recipes: every block of docs/guides/recipes.md as typed, against a site on loopback in place of https://example.org. */
import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type CodeBlock, codeBlocks } from "../support/markdown.ts";
import { packageRoot, readText } from "../support/package.ts";

const PAGE = "docs/guides/recipes.md";
const SITE = "https://example.org";
const folder = mkdtempSync(join(tmpdir(), "outrider-recipes-"));

const link = (href: string): string => `<a href="${href}">link</a>`;
const HTML: Record<string, string> = {
  "/": ["/docs/", "/news/", "/gone", "/a.pdf", "/private/a", "https://other.example/"]
    .map(link)
    .join(""),
  "/docs/": `<title>Docs</title>${link("/docs/intro")}`,
  "/docs/intro": "<title>Introduction</title>costs <b>12 €</b>",
  "/news/": `<title>News</title>${link("/news/1")}${link("/news/2")}`,
  "/news/1": "<title>One</title>",
  "/news/2": "<title>Two</title>",
  "/a.pdf": "pdf",
  "/busy": "<title>At last</title>",
};
let busy = 0;
let origin = "";

function answer({ url = "", method, headers }: IncomingMessage, response: ServerResponse): void {
  const html = { "content-type": "text/html" };
  if (url === "/robots.txt") return void response.end("User-agent: *\nDisallow: /private");
  if (url === "/sitemap.xml") {
    const urls = ["/docs/", "/news/1"].map((path) => `<url><loc>${origin}${path}</loc></url>`);
    return void response.end(`<urlset>${urls.join("")}</urlset>`);
  }
  if (url === "/busy" && busy++ === 0) {
    return void response.writeHead(429, { "retry-after": "0" }).end();
  }
  if (url === "/login" && method === "POST") {
    response.writeHead(200, { ...html, "set-cookie": "session=1" });
    return void response.end(link("/account"));
  }
  if (url === "/account") {
    const isIn = headers.cookie === "session=1";
    return void response.writeHead(isIn ? 200 : 403, html).end();
  }
  const page = HTML[url];
  response.writeHead(page === undefined ? 404 : 200, html).end(page);
}

const server = createServer(answer);
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  // The command as it is typed; what only this site asks for stands behind.
  const program = `"${process.execPath}" "${packageRoot}dist/cli/main.js"`;
  const lines = [
    ...["#!/bin/sh", 'if [ "$1" = crawl ]; then'],
    `  exec ${program} "$@" --allow-private --delay 0`,
    ...["fi", `exec ${program} "$@"`, ""],
  ];
  mkdirSync(join(folder, "bin"));
  writeFileSync(join(folder, "bin/outrider"), lines.join("\n"));
  chmodSync(join(folder, "bin/outrider"), 0o755);
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Question {
  readonly title: string;
  readonly blocks: readonly CodeBlock[];
}

const questions: Question[] = readText(PAGE)
  .split(/^## /m)
  .slice(1)
  .map((text) => ({
    title: text.split("\n", 1)[0] as string,
    blocks: codeBlocks(text, ["sh", "mjs", "js"]),
  }));

/** Runs a block in a folder of its question; what it printed, in the names of the page. */
function run(
  { code, language }: CodeBlock,
  cwd: string,
): Promise<{ code: number | null; out: string; err: string }> {
  const here = code.replaceAll(SITE, origin);
  const file = join(packageRoot, "build/blocks", `recipe-${process.pid}.mjs`);
  const env = { ...process.env, PATH: `${join(folder, "bin")}:${process.env.PATH}` };
  let child: ReturnType<typeof spawn>;
  if (language === "sh") child = spawn("sh", ["-ec", here], { cwd, env });
  else {
    mkdirSync(join(packageRoot, "build/blocks"), { recursive: true });
    writeFileSync(file, here.replace("crawl({", "crawl({ allowPrivate: true, delayMs: 0,"));
    child = spawn(process.execPath, [file], { cwd, env });
  }
  let [out, err] = ["", ""];
  child.stdout?.on("data", (part) => {
    out += part;
  });
  child.stderr?.on("data", (part) => {
    err += part;
  });
  return new Promise((resolve) => {
    child.on("close", (status) => {
      rmSync(file, { force: true });
      resolve({ code: status, out: out.replaceAll(origin, SITE), err });
    });
  });
}

describe("recipes", () => {
  it("answer twenty questions, each with a block that runs", () => {
    expect(questions).toHaveLength(20);
    for (const { title, blocks } of questions) {
      expect(title).toMatch(/\?$/);
      expect(blocks.length, title).toBeGreaterThan(0);
    }
  });

  it.each(questions.map((question, at) => ({ ...question, at })))(
    "$title",
    async ({ blocks, at }) => {
      const cwd = join(folder, String(at));
      mkdirSync(cwd);
      writeFileSync(join(cwd, "urls.txt"), `${origin}/docs/\n${origin}/news/1\n`);
      for (const block of blocks) {
        busy = 0;
        const { code, out, err } = await run(block, cwd);
        expect({ code, err: code === 0 ? "" : err }, block.code).toEqual({ code: 0, err: "" });
        if (block.prints !== undefined) expect(out).toBe(block.prints);
      }
    },
  );
});
