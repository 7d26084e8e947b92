/**
 * A side of the differential: one package's frontier, and what becomes of an operation on it. Each answer is plain data or a promise of it.
 */
import { EVENTS } from "./operations.mjs";
import { linkFor, OPTIONS, resultFor } from "./renames.mjs";
import { createReader } from "./plain.mjs";
import { restore } from "./values.mjs";

/** A time of our days, so that a number kept in too few bits shows. */
export const START_MS = 1_700_000_000_000;

/** What a listener pushes that calls the frontier. */
const PUSHED_BY_LISTENER = "http://listener.example/";

/** Options of a side: functions made, a preset laid under them, names as the package has them. */
export function optionsFor(pkg, spec, more) {
  const { preset, ...given } = restore(spec);
  const renamed = Object.fromEntries(
    Object.entries(given).map(([name, value]) => [
      pkg.side === "new" ? (OPTIONS[name] ?? name) : name,
      value,
    ]),
  );
  const options = { ...renamed, ...more };
  return preset === undefined ? options : pkg.api("presets")[preset](options);
}

export class Side {
  /** Every lease that was handed out, in order. */
  leases = [];
  /** Events since they were compared last. */
  events = [];
  /** Those whose moment the disk decides. */
  diskEvents = [];
  #spec;
  #offs = [];
  #aborts = [];
  #iterator;
  #pushed = 0;

  constructor(pkg, { hidden = [], isDurable = false, nowMs = START_MS } = {}) {
    this.pkg = pkg;
    this.isDurable = isDurable;
    this.reader = createReader(pkg.side, hidden);
    this.clock = pkg.api("createVirtualClock")(nowMs);
  }

  async open(spec, more = {}) {
    this.#spec = spec;
    this.frontier = await this.pkg.api("openFrontier")(
      optionsFor(this.pkg, spec, { clock: this.clock, ...more }),
    );
    this.#iterator = undefined;
  }

  /** Listens to events; to all of them unless they are named. */
  listen(events = EVENTS) {
    for (const event of events) this.#hear(event, "hears");
  }

  /** What an operation answers: plain data, or a promise of it. */
  perform(operation) {
    const { plain, fault } = this.reader;
    let answer;
    try {
      answer = this.#call(operation);
    } catch (cause) {
      return fault(cause);
    }
    if (typeof answer?.then !== "function") return answer === undefined ? "-" : answer;
    return answer.then((value) => (value === undefined ? "-" : plain(value)), fault);
  }

  #call(operation) {
    const { do: name } = operation;
    if (name.startsWith("lease.")) return this.#onLease(name.slice(6), operation);
    const { plain } = this.reader;
    const { frontier } = this;
    const given = (value) => restore(value, this.clock.now());
    switch (name) {
      case "push":
        return plain(frontier.push(given(operation.request)));
      case "pushMany":
        return plain(frontier.pushMany(given(operation.requests), given(operation.defaults)));
      case "poll":
        return this.#took([frontier.poll()]);
      case "pollMany":
        return this.#took(frontier.pollMany(operation.max));
      case "take":
        return this.#take(operation);
      case "next":
        this.#iterator ??= frontier[Symbol.asyncIterator]();
        return this.#iterator.next().then(({ value, done }) => [done, ...this.#took([value])]);
      case "leave":
        return this.#leave();
      case "abort":
        return this.#aborts.pop()?.abort(new Error("enough"));
      case "pushFrom":
        return frontier.pushFrom(
          sourceOf(given(operation.requests), operation.kind),
          given(operation.options),
        );
      case "done":
        return frontier.done(operation.leases.map((number) => this.leases[number]));
      case "advance":
        return this.#advance(operation.ms);
      default:
        return this.#ask(operation, given);
    }
  }

  #ask(operation, given) {
    const { plain, report } = this.reader;
    const { frontier } = this;
    switch (operation.do) {
      case "peek":
        return plain(frontier.peek(operation.max));
      case "record":
      case "explain":
        return plain(frontier[operation.do](given(operation.request)));
      case "records":
        return this.#listed(frontier.records(given(operation.filter)));
      case "epochs":
        return [...frontier.epochs()].map((one) => plain(one));
      case "nextDueAt":
        return plain(frontier.nextDueAt());
      case "report":
        return report(frontier.report());
      case "rules":
        return plain(frontier.rules());
      case "snapshot":
        return this.#snapshot();
      case "flush":
        return frontier.flush();
      default:
        return this.#steer(operation, given);
    }
  }

  /** The order of `records()` is no promise: it goes by when hosts were made, and with a directory by what was spilled. */
  #listed(records) {
    return [...records].map((one) => JSON.stringify(this.reader.plain(one))).sort();
  }

  #steer(operation, given) {
    const { frontier } = this;
    switch (operation.do) {
      case "setRules":
        return frontier.setRules(given(operation.rules), operation.version);
      case "update":
        return frontier.update(given(operation.request), given(operation.change));
      case "requeue":
      case "remove":
      case "forget":
        return frontier[operation.do](given(operation.filter));
      case "clear":
      case "pause":
      case "resume":
      case "drain":
        return frontier[operation.do]();
      case "state":
        if (typeof operation.value === "number") frontier.state = operation.value;
        else frontier.state.last = given(operation.value);
        return this.reader.plain(frontier.state);
      case "host":
        return this.#host(operation, given);
      case "on":
        return this.#hear(operation.event, operation.kind);
      case "off":
        return this.#offs.splice(this.#offs.length >> 1, 1)[0]?.();
      case "odd":
        return this.#odd(operation, given);
      default:
        throw new Error(`unknown operation ${operation.do}`);
    }
  }

  #onLease(name, operation) {
    const { plain } = this.reader;
    const lease = this.leases[operation.lease];
    const given = (value) => restore(value, this.clock.now());
    if (lease === undefined) return "no lease";
    switch (name) {
      case "done":
        return plain(lease.done(resultFor(this.pkg, lease, given(operation.result))));
      case "retry":
        return plain(lease.retry(given(operation.options)));
      case "fail":
        return lease.fail(operation.reason, given(operation.outcome));
      case "release":
        return lease.release();
      case "redirect":
        return plain(
          lease.redirect(linkFor(this.pkg, lease, operation.url), given(operation.change)),
        );
      case "extend":
        return [lease.extend(operation.ms), lease.deadlineMs];
      default:
        return plain(lease);
    }
  }

  #took(leases) {
    const given = leases.filter((one) => one !== undefined);
    this.leases.push(...given);
    return given.map((one) => this.reader.plain(one));
  }

  #take({ options }) {
    const controller = new AbortController();
    this.#aborts.push(controller);
    return this.frontier
      .take({ ...options, signal: controller.signal })
      .then((leases) => this.#took(leases));
  }

  #leave() {
    const iterator = this.#iterator;
    this.#iterator = undefined;
    return iterator?.return(undefined);
  }

  /** Ends whatever waits by itself. */
  letGo() {
    for (const controller of this.#aborts.splice(0)) controller.abort(new Error("enough"));
    this.#leave()?.catch(() => undefined);
  }

  #advance(ms) {
    if (ms !== "next") return this.clock.advance(ms);
    const due = this.frontier.nextDueAt();
    this.clock.advance(Math.max(0, Math.min((due ?? 0) - this.clock.now(), 86_400_000)));
    return this.clock.now();
  }

  /**
   * A generation's number and bytes are left out: the disk decides how many there were, and the new package writes more notes. Where snapshots come by themselves, the call may
   * join one that is being written, of an earlier moment.
   */
  #snapshot() {
    if (!this.isDurable) {
      return this.frontier
        .snapshot({ path: this.snapshotPath })
        .then(({ records }) => ({ records }));
    }
    return this.frontier.snapshot().then((info) => this.#written(info));
  }

  #written({ records }) {
    return this.isDurable && this.#spec.snapshots !== undefined ? "written" : { records };
  }

  #host({ key, act, value }, given) {
    const host = this.frontier.host(key);
    if (act === "hold" || act === "unhold") host[act]();
    else if (act === "blockUntil") host.blockUntil(given(value));
    else if (act !== "view") host[act] = given(value);
    return this.reader.host(host);
  }

  #hear(event, given) {
    const isByDisk = event === "snapshot" && this.isDurable;
    const list = isByDisk ? "diskEvents" : "events";
    const kind = isByDisk ? "hears" : given;
    const off = this.frontier.on(event, (payload) => {
      const shown = event === "snapshot" ? { records: payload.records } : payload;
      this[list].push([event, this.reader.plain(shown)]);
      if (kind === "throws") throw new Error(`listener of ${event}`);
      // A listener may call the frontier; not for ever.
      if (kind === "pushes" && this.#pushed < 100) {
        this.frontier.push(`${PUSHED_BY_LISTENER}${this.#pushed++ % 40}`);
      }
    });
    this.#offs.push(off);
    return undefined;
  }

  #odd({ method, args, lease: number = 0 }, given) {
    const { plain } = this.reader;
    const isLease = method.startsWith("lease.");
    const target = isLease ? this.leases[number] : this.frontier;
    if (target === undefined) return "no lease";
    const values = args.map(given);
    if (method === "lease.redirect") values[0] = linkFor(this.pkg, target, values[0]);
    const answer = target[isLease ? method.slice(6) : method](...values);
    if (method === "pollMany") return this.#took(answer);
    if (method === "snapshot") return answer.then((info) => this.#written(info));
    if (method === "take") return answer.then((leases) => this.#took(leases));
    if (method === "records") return this.#listed(answer);
    if (method === "host") return this.reader.host(answer);
    return typeof answer?.then === "function" ? answer : plain(answer);
  }
}

function sourceOf(list, kind) {
  if (kind === "list") return list;
  return (async function* () {
    for (const one of list) {
      await undefined;
      yield one;
    }
    if (kind === "broken") throw new Error("broken");
  })();
}
