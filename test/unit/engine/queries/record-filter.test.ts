/** Filters: what changes records asks for a field, and a field that is undefined never passes. */
import { expect, it } from "vitest";
import { FrontierError, openFrontier, openFrontierThread } from "../../../../src/index.ts";

const URLS = ["http://a.example/1", "http://b.example/2"];

async function failed() {
  const frontier = await openFrontier();
  frontier.pushMany(URLS);
  return frontier;
}

function messageOf(act: () => unknown): string {
  try {
    act();
  } catch (error) {
    if (error instanceof FrontierError) return `${error.code} ${error.message}`;
    throw error;
  }
  return "";
}

it("remove without a field is refused, and { all: true } removes everything", async () => {
  const frontier = await failed();
  const expected =
    "ARGUMENT_INVALID filter: {} (expected: one of rule, host, pattern, or { all: true })";
  expect(messageOf(() => frontier.remove({}))).toBe(expected);
  expect(messageOf(() => frontier.remove(undefined as never))).toBe(expected);
  expect(messageOf(() => frontier.remove({ all: false }))).toContain("or { all: true }");
  expect(messageOf(() => frontier.remove({ all: true, host: "a.example" }))).toContain(
    "expected: no other field beside all",
  );
  expect(frontier.report().pending).toBe(2);
  expect(frontier.remove({ all: true })).toBe(2);
  await frontier.close();
});

it("requeue without a field is refused, and { all: true } requeues every failed record", async () => {
  const frontier = await failed();
  for (const lease of frontier.pollMany(2)) lease.fail();
  const expected =
    "ARGUMENT_INVALID filter: {} (expected: one of rule, host, state, reason, or { all: true })";
  expect(messageOf(() => frontier.requeue({}))).toBe(expected);
  expect(messageOf(() => frontier.requeue(undefined as never))).toBe(expected);
  expect(frontier.report().failed).toBe(2);
  expect(frontier.requeue({ all: true })).toBe(2);
  await frontier.close();
});

it("a field that is undefined is refused by its name, in every filter", async () => {
  const frontier = await failed();
  const none = undefined as never;
  const refused = (name: string): string =>
    `ARGUMENT_INVALID filter.${name}: undefined (expected: a value, or no such field)`;
  for (const field of ["host", "rule", "pattern", "all"]) {
    expect(messageOf(() => frontier.remove({ [field]: none }))).toBe(refused(field));
  }
  expect(messageOf(() => frontier.remove({ rule: "default", host: none }))).toBe(refused("host"));
  for (const field of ["state", "host", "rule", "reason", "all"]) {
    expect(messageOf(() => frontier.requeue({ [field]: none }))).toBe(refused(field));
  }
  for (const field of ["state", "host", "rule"]) {
    expect(messageOf(() => frontier.records({ [field]: none }))).toBe(refused(field));
  }
  expect(messageOf(() => frontier.forget({ epoch: none }))).toBe(refused("epoch"));
  expect(frontier.report().pending).toBe(2);
  await frontier.close();
});

it("forget and clear keep their meaning: without a filter they are about everything", async () => {
  const frontier = await failed();
  for (const lease of frontier.pollMany(2)) lease.done();
  expect(frontier.forget()).toBe(2);
  expect(frontier.pushMany(URLS).accepted).toBe(2);
  expect(frontier.forget({})).toBe(0);
  frontier.clear();
  expect(frontier.report().pending).toBe(0);
  await frontier.close();
});

it("all of that holds through a thread", async () => {
  const frontier = await openFrontierThread();
  await frontier.pushMany(URLS);
  const none = undefined as never;
  await expect(frontier.remove({})).rejects.toThrow("or { all: true }");
  await expect((frontier.remove as () => Promise<number>)()).rejects.toThrow("or { all: true }");
  await expect(frontier.remove({ host: none })).rejects.toThrow("filter.host: undefined");
  await expect(frontier.requeue({})).rejects.toThrow("or { all: true }");
  await expect(async () => {
    for await (const _ of frontier.records({ host: none }));
  }).rejects.toThrow("filter.host: undefined");
  expect(await frontier.remove({ all: true })).toBe(2);
  await frontier.close();
});
