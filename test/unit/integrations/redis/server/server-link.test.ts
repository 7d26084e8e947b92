/** Which failures a call outlives: each text is what a client or a server really answers. */
import { describe, expect, it } from "vitest";
import type { RedisCommands } from "../../../../../src/redis.ts";
import { ServerLink } from "../../../../../src/integrations/redis/server/server-link.ts";

/** A link over commands that fail once, and then answer; and how often they were called. */
function failingOnce(cause: Error): { link: ServerLink; count: () => number } {
  let count = 0;
  const commands: RedisCommands = {
    async call() {
      if (++count === 1) throw cause;
      return "there";
    },
    subscribe: async () => async () => undefined,
    nodes: async () => [],
    close: async () => undefined,
  };
  const options = { commands, keys: [["{p}:m"]], now: () => "", giveUpMs: 10_000 };
  return { link: new ServerLink(options), count: () => count };
}

const OF_SERVERS = [
  "TRYAGAIN Multiple keys request during rehashing of slot",
  "LOADING Redis is loading the dataset in memory",
  "CLUSTERDOWN The cluster is down",
  "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
  "READONLY You can't write against a read only replica.",
  "BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.",
  "ASK 3999 127.0.0.1:6381",
  "MOVED 3999 127.0.0.1:6381",
  "MISCONF Errors writing to the AOF file: No space left on device",
  "NOREPLICAS Not enough good replicas to write.",
  "UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)",
];
const OF_CLIENTS = [
  "Connection is closed.",
  "Reached the max retries per request limit (which is 20).",
  "Failed to refresh slots cache.",
  "Stream isn't writeable and enableOfflineQueue options is false",
  "Socket closed unexpectedly",
  "The client is offline",
  "None of startup nodes is available",
  "All the root nodes are unavailable",
];
const OF_SYSTEMS = ["ECONNREFUSED", "EPIPE", "ENOENT", "ETIMEDOUT", "ENOTFOUND", "EAI_AGAIN"];

describe("a call is made again after a failure that passes", () => {
  it.each([...OF_SERVERS, ...OF_CLIENTS])("%s", async (message) => {
    const { link, count } = failingOnce(new Error(message));
    expect(await link.ask(0, "HGET", "k")).toBe("there");
    expect(count()).toBe(2);
  });

  it.each(OF_SYSTEMS)("code %s", async (code) => {
    const { link, count } = failingOnce(Object.assign(new Error("connect"), { code }));
    expect(await link.ask(0, "HGET", "k")).toBe("there");
    expect(count()).toBe(2);
  });
});

it("calls that find a script missing at once have its text sent once to each server", async () => {
  const known = new Set<string>();
  const names: string[] = [];
  const commands: RedisCommands = {
    async call(key, name) {
      await new Promise((resolve) => void setImmediate(resolve));
      names.push(name);
      if (name === "EVAL") known.add(key);
      else if (!known.has(key)) throw new Error("NOSCRIPT No matching script.");
      return [key];
    },
    subscribe: async () => async () => undefined,
    nodes: async () => [],
    close: async () => undefined,
  };
  const keys = [["{a}:m"], ["{b}:m"]];
  const link = new ServerLink({ commands, keys, now: () => "", giveUpMs: 10_000 });
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => link.run("push", at % 2, [])),
  );
  expect(answers.map(String)).toEqual(answers.map((_, at) => keys[at % 2]?.[0]));
  expect(names.filter((name) => name === "EVAL")).toHaveLength(2);
});

it("a text that is refused is the failure of its own call alone", async () => {
  let evals = 0;
  const commands: RedisCommands = {
    async call(_key, name) {
      if (name !== "EVAL" && evals < 2) throw new Error("NOSCRIPT No matching script.");
      if (name === "EVAL" && ++evals === 1) throw new Error("WRONGTYPE");
      return ["there"];
    },
    subscribe: async () => async () => undefined,
    nodes: async () => [],
    close: async () => undefined,
  };
  const link = new ServerLink({ commands, keys: [["{p}:m"]], now: () => "", giveUpMs: 10_000 });
  const answers = await Promise.allSettled([1, 2, 3].map(() => link.run("push", 0, [])));
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled"]);
});

it("a failure that does not pass is the caller's at once", async () => {
  const { link, count } = failingOnce(new Error("ERR value is not an integer or out of range"));
  await expect(link.ask(0, "HGET", "k")).rejects.toThrow("not an integer");
  expect(count()).toBe(1);
});

it("a key of another type is refused at once, by a code", async () => {
  const { link, count } = failingOnce(new Error("WRONGTYPE Operation against a key"));
  await expect(link.ask(0, "HGET", "k")).rejects.toMatchObject({ code: "FORMAT_UNSUPPORTED" });
  expect(count()).toBe(1);
});
