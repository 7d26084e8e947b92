/**
 * A duel: the same operations on both sides, in lock step. Every answer, every event and, now and then, the whole report and what would
 * be handed out next must be equal. What waits is compared when it settles.
 */
import { stirEntropy } from "./random.mjs";

export class Difference extends Error {
  constructor(what, old, now) {
    super(`${what} differs\n  old ${old}\n  new ${now}`);
    this.name = "Difference";
  }
}

/** Turns of the loop that both sides are given where something waits; and before they are said to differ. */
const TURNS = 2;
const TURNS_MOST = 200;
const KEPT = 20;
/** Operations between two looks at the whole report. */
const LOOK_EVERY = 20;

export class Duel {
  #sides;
  #seed;
  /** What was asked and has not been answered. */
  #waits = [];
  /** Numbers of the leases that no operation has ended. */
  #open = [];
  #seenLeases = 0;
  #performed = 0;
  log = [];

  constructor(sides, seed, performed = 0) {
    this.#sides = sides;
    this.#seed = seed;
    this.#performed = performed;
    stirEntropy(seed, 0);
  }

  get leases() {
    return { open: this.#open, count: this.#sides[0].leases.length };
  }

  get performed() {
    return this.#performed;
  }

  async perform(operation) {
    this.#note(operation);
    const answers = this.#sides.map((side) => side.perform(operation));
    // What the disk answers is waited for at once: when it comes decides nothing.
    if (BY_DISK.has(operation.do) || BY_DISK.has(operation.method)) {
      compare("answer", await Promise.all(answers));
    } else if (answers.some((one) => typeof one?.then === "function")) {
      this.#wait(operation.do, answers);
    } else compare("answer", answers);
    this.noteLeases(operation);
    if (this.#waits.length > 0) await this.#settle();
    else this.#compareEvents();
    if (this.#performed % LOOK_EVERY === 0) await this.#look();
  }

  /** An operation that is no call of a frontier: `ask` does it on a side. */
  async answer(operation, ask) {
    this.#note(operation);
    const answers = [];
    for (const side of this.#sides) {
      try {
        answers.push(side.reader.plain(await ask(side)));
      } catch (cause) {
        answers.push(side.reader.fault(cause));
      }
    }
    compare("answer", answers);
    return answers[0];
  }

  #note(operation) {
    this.#performed++;
    stirEntropy(this.#seed, this.#performed);
    this.log.push(`${this.#performed}. ${JSON.stringify(operation)}`);
    if (this.log.length > KEPT) this.log.shift();
  }

  /** Compares what neither answers nor events show at once. */
  async #look() {
    await this.settle();
    this.compareNow("status", (side) => side.frontier.status);
    if (this.#sides[0].frontier.status === "stopped") return;
    this.compareNow("report", (side) => side.reader.report(side.frontier.report()));
    this.compareNow("next ones", (side) => side.frontier.peek(4).map(side.reader.plain));
  }

  compareNow(what, ask) {
    compare(
      what,
      this.#sides.map((side) => ask(side)),
    );
  }

  /** Every public question, asked at once. */
  compareAll() {
    const sides = this.#sides;
    compare(
      "report",
      sides.map((side) => side.perform({ do: "report" })),
    );
    for (const name of ["records", "epochs", "rules", "nextDueAt"]) {
      compare(
        name,
        sides.map((side) => side.perform({ do: name })),
      );
    }
    compare(
      "peek",
      sides.map((side) => side.perform({ do: "peek", max: 1_000 })),
    );
    this.compareNow("state", (side) => side.reader.plain(side.frontier.state));
    this.compareNow("status", (side) => side.frontier.status);
  }

  #wait(what, promises) {
    const wait = { what: `${this.#performed}. ${what}`, answers: [], count: 0 };
    promises.forEach((promise, at) => {
      Promise.resolve(promise).then((answer) => {
        wait.answers[at] = answer;
        wait.count++;
      });
    });
    this.#waits.push(wait);
  }

  /** Lets both go on until what has settled on one side has settled on the other, and compares it. */
  async #settle(least = TURNS) {
    for (let turn = 0; ; turn++) {
      await new Promise((resolve) => setImmediate(resolve));
      if (turn + 1 < least) continue;
      const isHalf = this.#waits.some(({ count }) => count > 0 && count < this.#sides.length);
      if (turn > TURNS_MOST * 100 || (!isHalf && (this.#areEventsEven() || turn > TURNS_MOST)))
        break;
      if (turn > TURNS_MOST) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    this.#waits = this.#waits.filter(({ what, answers, count }) => {
      if (count === 0) return true;
      compare(
        `answer of ${what}`,
        this.#sides.map((_, at) => answers[at] ?? "(waits)"),
      );
      return false;
    });
    this.#compareEvents();
    if (!this.#areEventsEven()) this.#compareLeft();
    this.noteLeases();
  }

  async settle() {
    await this.#settle(1);
  }

  /** Until nothing waits: for what settles by itself, such as a flush. */
  async settleAll() {
    for (let turn = 0; this.#waits.length > 0 && turn < 5_000; turn++) {
      await this.#settle(1);
      if (turn > 20) await new Promise((resolve) => setTimeout(resolve, 1));
    }
    if (this.#waits.length > 0) {
      throw new Difference(
        "settling",
        "all settles",
        `waits: ${this.#waits.map(({ what }) => what)}`,
      );
    }
    await this.#settle(1);
  }

  /** New leases are open; ended ones are not. */
  noteLeases(operation) {
    if (ENDS.has(operation?.do)) {
      for (const number of operation.leases ?? [operation.lease]) {
        const at = this.#open.indexOf(number);
        if (at >= 0) this.#open.splice(at, 1);
      }
    }
    const { leases } = this.#sides[0];
    while (this.#seenLeases < leases.length) this.#open.push(this.#seenLeases++);
    // Those that are long out have run out: an odd one comes back by its number.
    if (this.#open.length > 60) this.#open.splice(0, 30);
  }

  /** After an opening no lease of before is out. */
  forgetLeases() {
    this.#open = [];
  }

  #areEventsEven() {
    const [first, second = first] = this.#sides;
    return first.events.length === second.events.length;
  }

  /** Compares the events that both have met. */
  #compareEvents() {
    const [old, now] = this.#sides;
    if (now === undefined) {
      old.events.length = 0;
      return;
    }
    const count = Math.min(old.events.length, now.events.length);
    if (count === 0) return;
    compare("events", [old.events.splice(0, count), now.events.splice(0, count)]);
  }

  #compareLeft() {
    const [old, now] = this.#sides;
    if (now !== undefined) compare("events", [old.events, now.events]);
  }
}

const BY_DISK = new Set(["flush", "snapshot"]);
const ENDS = new Set(["done", "lease.done", "lease.retry", "lease.fail", "lease.release"]);

/** Throws unless the answers of both sides are the same as text. */
export function compare(what, answers) {
  if (answers.length < 2) return; // one side alone: the child that is killed
  const [old, now] = answers;
  const wanted = JSON.stringify(old);
  const given = JSON.stringify(now);
  if (wanted !== given) throw new Difference(what, short(wanted, given), short(given, wanted));
}

/** The part in which two long texts differ. */
function short(text = "(nothing)", other = "") {
  if (text.length < 2_000) return text;
  let at = 0;
  while (at < text.length && text[at] === other[at]) at++;
  return `…${text.slice(Math.max(0, at - 300), at + 700)}…`;
}
