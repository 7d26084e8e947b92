/** Every message of the product on one page: error-messages.txt is current, and no message has a fault that a list can show. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { readMessages } from "../../tools/messages/read.mjs";
import { pageOf } from "../../tools/messages/write.mjs";
import { readText } from "../support/package.ts";

const messages = readMessages();
const all = [...messages].flatMap(([code, texts]) => texts.map((text) => `${code}: ${text}`));

describe("the messages of the product", () => {
  it("stand in one list, which is current", () => {
    const page = pageOf(messages);
    expect(page, "node tools/messages/write.mjs").toBe(readText("test/api/error-messages.txt"));
  });

  it("have every code that an error of ours may have", () => {
    const source = readText("src/base/errors.ts");
    const [, union = ""] = /type FrontierErrorCode =([^;]*);/.exec(source) ?? [];
    const codes = [...union.matchAll(/"([A-Z_]+)"/g)].map(([, code]) => code as string);
    expect(codes.length).toBeGreaterThan(10);
    expect(codes.filter((code) => !messages.has(code))).toEqual([]);
  });

  it("name what is expected wherever a caller chose a value", () => {
    const misuse = all.filter((text) =>
      /^(ARGUMENT|OPTION|REQUEST|RULE|STATE)_INVALID: /.test(text),
    );
    expect(misuse.length).toBeGreaterThan(80);
    const open = misuse.filter((text) => !/\(expected: .+\)|<message>$/.test(text));
    expect(open).toEqual([]);
  });
});

describe("the words of the messages", () => {
  it("are the caller's: no part of ours that nobody wrote is named", () => {
    const coded = all.filter((text) => /^[A-Z_]+: /.test(text));
    expect(coded.length).toBeGreaterThan(200);
    const ours = /\b(region|seat|lane|treap|hub|arena|scope'|tier-?cold)\b/;
    expect(coded.filter((text) => ours.test(text))).toEqual([]);
  });
});

describe("the reader of messages", () => {
  const root = mkdtempSync(join(tmpdir(), "outrider-messages-"));
  afterAll(() => rmSync(root, { recursive: true, force: true }));
  const readTexts = (name: string, source: string): Map<string, string[]> => {
    mkdirSync(join(root, name, "src"), { recursive: true });
    const errors =
      "declare class FrontierError extends Error { constructor(c: string, m: string) }\n";
    writeFileSync(join(root, name, "src/some.ts"), errors + source);
    return readMessages(`${join(root, name)}/`);
  };

  it("follows a text through helpers, constants, conditions and defaults", () => {
    const source = `
      const MOST = 2 ** 10;
      const TABLE = { a: "first", b: "second" };
      function wrong(name: string, value: unknown, expected: string) {
        return new FrontierError("OPTION_INVALID", \`\${name}: \${String(value)} (expected: \${expected})\`);
      }
      export function whole(value: number, least = 1) {
        if (value < least) throw wrong("delay", value, \`from \${least} to \${MOST}\`);
      }
      export function look(key: keyof typeof TABLE, isOdd: boolean) {
        throw wrong("key", key, isOdd ? TABLE[key] : ["x", "y"].join(" or "));
      }`;
    expect(readTexts("helpers", source)).toEqual(
      new Map([
        [
          "OPTION_INVALID",
          [
            "delay: <value> (expected: from <least> to 1024)",
            "key: <value> (expected: first)",
            "key: <value> (expected: second)",
            "key: <value> (expected: x or y)",
          ],
        ],
      ]),
    );
  });

  it("keeps together what one call hands over", () => {
    const source = `
      function fault(code: string, what: string) { return new FrontierError(code, \`disk: \${what}\`); }
      export const full = () => fault("DISK_FULL", "no room");
      export const gone = () => fault("DISK_GONE", "no disk");`;
    expect([...readTexts("pairs", source)]).toEqual([
      ["DISK_FULL", ["disk: no room"]],
      ["DISK_GONE", ["disk: no disk"]],
    ]);
  });
});
