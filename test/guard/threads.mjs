/**
 * Programs on frontiers that threads of their own own. Their clock is the machine's, so nothing in these programs waits for a time, and
 * times are left out of answers.
 */
import { Duel } from "./duel.mjs";
import { createGenerator, EVENTS } from "./operations.mjs";
import { optionsOf } from "./options.mjs";
import { createReader } from "./plain.mjs";
import { createRandom } from "./random.mjs";
import { linkFor, resultFor } from "./renames.mjs";
import { optionsFor } from "./side.mjs";
import { restore } from "./values.mjs";

/** What only a clock of ours decides, what a thread cannot be sent, and what waits. */
const SKIPPED = [
  ...["advance", "take", "abort", "next", "leave", "drain", "pushFrom", "snapshot", "on", "off"],
  ...["setRules", "nextDueAt", "odd"],
];
const TIMES = new Set([
  ...["notBefore", "delayMs", "retryAfterMs", "latencyMs", "backoff", "adaptive", "hostBackoff"],
  ...["epoch", "breaker", "idleTimeoutMs", "onIdle", "accept", "every", "leaseMs", "blockUntil"],
]);

export async function threadProgram({ packages, seed, operations, note }) {
  const random = createRandom(seed);
  const { preset: _, seen: __, ...options } = optionsOf(random, false);
  const spec = plainOnly(options);
  const sides = packages.map((pkg) => new ThreadSide(pkg));
  const duel = new Duel(sides, seed);
  note?.(duel, spec);
  try {
    for (const side of sides) await side.open(spec);
    const next = createGenerator(random, { skip: SKIPPED });
    for (let at = 0; at < operations; at++) {
      const operation = plainOnly(next(duel.leases));
      await duel.answer(operation, (side) => side.call(operation));
      duel.noteLeases(operation);
      if (at % 20 === 0) await compareEvents(duel, sides);
    }
    await compareEvents(duel, sides);
  } finally {
    for (const side of sides) await side.frontier?.close();
  }
  await duel.answer({ do: "push after close" }, (side) =>
    side.frontier.push("http://late.example/"),
  );
  await duel.answer({ do: "report after close" }, (side) => side.frontier.report());
}

/** Without times, and without functions; a value that only a program can make stays. */
function plainOnly(value) {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(plainOnly);
  const made = {};
  for (const [name, one] of Object.entries(value)) {
    const isFunction = ["slotOf", "unitOfHost", "keyOfUrl", "throws", "pathOnly"].includes(one?.$);
    if (TIMES.has(name) || isFunction || name === "groups") continue;
    if (name === "act" && (one === "delayMs" || one === "blockUntil")) made.act = "view";
    else made[name] = plainOnly(one);
  }
  return made;
}

/** What was told by now, once a call has gone there and back after it. */
async function compareEvents(duel, sides) {
  await Promise.all(sides.map((side) => side.frontier.report()));
  await duel.settle();
}

class ThreadSide {
  leases = [];
  events = [];

  constructor(pkg) {
    this.pkg = pkg;
    this.reader = createReader(pkg.side);
    const { plain } = this.reader;
    this.reader.plain = (value) => withoutTimes(plain(value));
  }

  async open(spec) {
    this.frontier = await this.pkg.api("openFrontierThread")(optionsFor(this.pkg, spec));
    for (const event of EVENTS) {
      this.frontier.on(event, (payload) => this.events.push([event, this.reader.plain(payload)]));
    }
  }

  async call(operation) {
    const { frontier } = this;
    const { do: name } = operation;
    if (name.startsWith("lease.")) return this.#onLease(name.slice(6), operation);
    switch (name) {
      case "push":
      case "record":
      case "explain":
        return frontier[name](restore(operation.request));
      case "pushMany":
        return frontier.pushMany(restore(operation.requests), operation.defaults);
      case "poll":
        return this.#took([await frontier.poll()]);
      case "pollMany":
        return this.#took(await frontier.pollMany(operation.max));
      case "peek":
        return frontier.peek(operation.max);
      case "records":
        return gathered(await frontier.records(operation.filter ?? {}));
      case "epochs":
        return gathered(await frontier.epochs());
      case "report": {
        const {
          rates: _,
          startedAt: __,
          text: ___,
          ...rest
        } = this.reader.report(await frontier.report());
        return rest;
      }
      case "update":
        return frontier.update(restore(operation.request), operation.change);
      case "requeue":
      case "remove":
      case "forget":
        return frontier[name](operation.filter);
      case "state":
        await frontier.setState({
          last: operation.value === undefined ? null : restore(operation.value),
        });
        return frontier.state();
      case "host":
        return this.#host(operation);
      case "done":
        return frontier.done(operation.leases.map((number) => this.leases[number]));
      default:
        return frontier[name]();
    }
  }

  async #host({ key, act, value }) {
    const host = this.frontier.host(key);
    if (act === "hold" || act === "unhold") await host[act]();
    else if (act !== "view") await host.set({ [act]: value });
    const { readyAt: _, ...view } = await host.view();
    return view;
  }

  async #onLease(name, operation) {
    const lease = this.leases[operation.lease];
    if (lease === undefined) return "no lease";
    switch (name) {
      case "done":
        return lease.done(resultFor(this.pkg, lease, restore(operation.result)));
      case "retry":
        return lease.retry(operation.options);
      case "fail":
        return lease.fail(operation.reason, operation.outcome);
      case "redirect":
        return lease.redirect(linkFor(this.pkg, lease, operation.url), restore(operation.change));
      case "extend":
        return lease.extend(operation.ms + 600_000);
      case "release":
        return lease.release();
      default:
        return lease;
    }
  }

  #took(leases) {
    const given = leases.filter((one) => one !== undefined);
    this.leases.push(...given);
    return given;
  }
}

/** A list of the old package's; an async iterable of the new one's. */
async function gathered(items) {
  const list = [];
  for await (const item of items) list.push(item);
  return list;
}

function withoutTimes(value) {
  if (typeof value === "number") return value > 1e11 && value < 1e13 ? "(a time)" : value;
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutTimes);
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withoutTimes(one)]));
}
