/** Clients in another language against the server: of this version of the protocol, and of older ones. */
import { expect, it } from "vitest";
import { createVirtualClock } from "../../src/index.ts";
import { serving } from "./client.ts";
import { DEFINITION, runPython } from "./python-stubs.ts";

it("a Python client crawls with it: puts, gets, updates, lists, and counts", async (context) => {
  const { port } = await serving();
  const answer = await runPython(context, DEFINITION, "client.py", `127.0.0.1:${port}`);
  expect(answer).toEqual({
    acks: [
      ["1", "OK"],
      ["http://a.com/2", "OK"],
      ["3", "SKIPPED"],
      ["4", "OK"],
    ],
    batch: ["b", ["OK", "SKIPPED"]],
    crawled: 41,
    metadata: { from: ["a", "b"] },
    stats: { size: 1, inProcess: 0, completed: 42, queues: 2 },
    queues: ["b.com"],
    missing: "NOT_FOUND",
    listed: 43,
  });
});

/** What later versions added to 2.4, to 2.3 and to 2.0. */
const ADDED: ReadonlyArray<[version: string, parts: readonly RegExp[]]> = [
  [
    "2.4",
    [
      /rpc (PutDiscovered|CountURLs|PurgeURLs)\(.*/g,
      /message (DiscoveredBatch|BatchAck|CountUrlParams|PurgeUrlParams) {[^}]*}/g,
      /uint64 creation_date = 4;/g,
      /optional (string filter = 6|bool ignoreCase = 7);/g,
      /(?<=message CrawlLimitParams {[^}]*)bool local = 4;/g,
    ],
  ],
  [
    "2.3",
    [
      /rpc (SetCrawlLimit|GetURLStatus|ListURLs)\(.*/g,
      /message (CrawlLimitParams|URLStatusRequest|ListUrlParams) {[^}]*}/g,
    ],
  ],
  ["2.0", [/bool local = \d;/g, /string ID = 3;.*/g]],
];

/** The definition of an older version: what came after it is taken out of ours, and 2.0 had other names for three messages. */
function definitionOf(version: string): string {
  let text = DEFINITION;
  for (const [of, parts] of ADDED) {
    for (const part of parts) {
      expect(text).toMatch(part);
      text = text.replace(part, "");
    }
    if (of === version) break;
  }
  if (version !== "2.0") return text;
  return text
    .replace("(stream AckMessage)", "(stream String)")
    .replace(/rpc (ListCrawls|GetActive)\(Local\)/g, "rpc $1(Empty)")
    .replace(
      "DeleteCrawl(DeleteCrawlMessage) returns (Long)",
      "DeleteCrawl(String) returns (Integer)",
    )
    .replace("SetActive(Active)", "SetActive(Boolean)")
    .replace("message Long", "message String {\n  string value = 1;\n}\n\nmessage Integer")
    .replace(
      "DeleteQueue(QueueWithinCrawlParams) returns (Long)",
      "DeleteQueue(QueueWithinCrawlParams) returns (Integer)",
    );
}

const FROM = { from: ["x"] };
/** By which version its acknowledgements are read. */
const ACKS: Readonly<Record<string, (url: string, status: string) => unknown>> = {
  "2.4": (url, status) => [url, status],
  "2.3": (url, status) => [url, status],
  "2.0": (url) => url,
};

it.for(["2.4", "2.3", "2.0"])(
  "a Python client of version %s works with it",
  async (version, context) => {
    const clock = createVirtualClock(1_800_000_000_000);
    const { port } = await serving({ clock });
    const answer = await runPython(
      context,
      definitionOf(version),
      "old_client.py",
      `127.0.0.1:${port}`,
    );
    const ack = ACKS[version] as (typeof ACKS)[string];
    expect(answer).toEqual({
      acks: [
        ...[1, 2, 3].map((n) => ack(`http://a.com/${n}`, "OK")),
        ack("http://a.com/1", "SKIPPED"),
        ack("http://b.com/1", "OK"),
        ack("http://a.com/1", "OK"),
      ],
      crawls: ["DEFAULT", "other"],
      page: [["named"], 1, 1, "DEFAULT"],
      one: [["http://a.com/1", "a.com", "DEFAULT", FROM]],
      other: [["http://a.com/1", "a.com", "other", FROM]],
      done: [ack("http://a.com/1", "OK"), ack("http://a.com/2", "OK")],
      stats: [2, 0, { completed: 1, active_queues: 1 }, 1, "DEFAULT"],
      idle: [false, []],
      queues: [["a.com"], ["a.com", "named"]],
      nodes: 1,
      ...(version === "2.4"
        ? { limited: [], status: ["http://a.com/2", 4_000_000_000], listed: 3 }
        : {}),
      deleted: [3, 1],
    });
  },
);
