/**
 * LastVisits: whether a family that was taken for a trap ends, shown by visits of URLs that were set aside.
 *
 *   left URL ─▶ set aside, behind all others ─▶ its host has nothing else: visited on credit ─┬▶ useful, no new URL of the trap: + GAIN
 *           └▶ ASIDE_MAX of a trap: gone        no credit, others are being visited: it waits  └▶ a copy, no page, or such URLs: nothing
 *                                               no credit: it fails
 *
 *   useful   its page is no copy of another one
 *   credit   TRAP_CREDIT visits for a trap, and KIND_CREDIT for each kind of URL in it, such as lists and the pages they list
 *
 *   lists    a visit that led on is returned to its kind once LIST_USEFUL others were useful: what a list leads to may be worth it
 *
 *   A family that ends has hardly any new URL left when its known ones are visited; an endless one has several for each visit, for ever.
 *
 *   one      until a page was useful they are visited one by one: what one page leads to is no new URL for the next one; then a fourth of the
 *            credit at once. Where one led on, those that wait make way for what it led to: a tree shows its leaves soon
 *
 *   I1  Without a useful page a trap has at most TRAP_CREDIT such visits.
 *   I2  A URL has at most one visit on credit at a time: where its lease ran out, the next one waits for its end. So what waits always goes on.
 *
 * Crash: what was set aside is pending in the frontier. Credit starts anew.
 */
import { BoundedMap } from "./bounded-map.ts";
import { type Evidence, ORPHANS } from "./trap-evidence.ts";

/** What becomes of a URL that was set aside. */
export type LastVerdict = "visit" | "wait" | "leave";

const [TRAP_CREDIT, KIND_CREDIT, CREDIT_MAX, GAIN] = [6, 3, 8, 2];
/** The same of orphans, which are of all kinds: less for each, so that more of them have some. */
const [ORPHANS_CREDIT, ORPHANS_KIND_CREDIT] = [10, 2];
const LIST_USEFUL = 4;
const ASIDE_MAX = 10_000;
const KINDS_MAX = 10_000;
const LED_ON_MAX = 100;

interface Credit {
  left: number;
  /** Visits whose end is not known. */
  out: number;
}

interface TrapCredit extends Credit {
  /** URLs that were set aside. */
  aside: number;
  /** Whether a visit on credit was useful. */
  wasUseful: boolean;
  /** Kinds whose visits led on, and useful visits since one of them had its visit back. */
  readonly ledOn: Credit[];
  useful: number;
}

interface LastVisit {
  readonly trap: Evidence;
  readonly credits: readonly [trap: TrapCredit, kind: Credit];
}

export class LastVisits {
  readonly #traps = new WeakMap<Evidence, TrapCredit>();
  readonly #kinds = new BoundedMap<string, Credit>(KINDS_MAX);
  readonly #visits = new Map<string, LastVisit>();
  #waiting: Array<(ledOn: boolean) => void> = [];

  /** Whether a trap may have one more URL set aside. */
  setAside(trap: Evidence): boolean {
    const credit = this.#creditOf(trap);
    if (credit.aside >= ASIDE_MAX) return false;
    credit.aside++;
    return true;
  }

  /** `kind`: the family of the URL that has credit of its own. */
  take(trap: Evidence, kind: string, url: string): LastVerdict {
    if (this.#visits.has(url)) return "wait";
    const credits = [this.#creditOf(trap), this.#creditOfKind(trap, kind)] as const;
    const spent = credits.find(({ left }) => left <= 0);
    if (spent !== undefined) return spent.out > 0 ? "wait" : "leave";
    const [trapCredit] = credits;
    const together = trapCredit.wasUseful ? trapCredit.left >> 2 : 0;
    if (trapCredit.out > together) return "wait";
    for (const credit of credits) {
      credit.left--;
      credit.out++;
    }
    this.#visits.set(url, { trap, credits });
    return "visit";
  }

  /** Resolves when the next visit on credit has ended; true: it led on, to URLs that go before those that wait. */
  nextEnd(): Promise<boolean> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
    });
  }

  /** The trap for which a URL is being visited on credit. */
  trapOf(url: string): Evidence | undefined {
    return this.#visits.get(url)?.trap;
  }

  /** The visit of a URL has ended, or there was none after all. Not on credit: nothing changes. */
  ended(url: string, visited: "useful" | "leads on" | "empty" | "no visit"): void {
    const visit = this.#visits.get(url);
    if (visit === undefined) return;
    this.#visits.delete(url);
    if (visited === "useful") countUseful(visit.credits[0]);
    if (visited === "leads on" && visit.credits[0].ledOn.length < LED_ON_MAX)
      visit.credits[0].ledOn.push(visit.credits[1]);
    for (const credit of visit.credits) {
      credit.out--;
      const gain = visited === "useful" ? GAIN : visited === "no visit" ? 1 : 0;
      credit.left = Math.min(credit.left + gain, Math.max(CREDIT_MAX, credit.left));
    }
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const goOn of waiting) goOn(visited === "leads on");
  }

  #creditOf(trap: Evidence): TrapCredit {
    const credit = this.#traps.get(trap) ?? {
      left: isOfOrphans(trap) ? ORPHANS_CREDIT : TRAP_CREDIT,
      out: 0,
      aside: 0,
      wasUseful: false,
      ledOn: [],
      useful: 0,
    };
    this.#traps.set(trap, credit);
    return credit;
  }

  #creditOfKind(trap: Evidence, kind: string): Credit {
    const credit = this.#kinds.get(kind) ?? {
      left: isOfOrphans(trap) ? ORPHANS_KIND_CREDIT : KIND_CREDIT,
      out: 0,
    };
    this.#kinds.set(kind, credit);
    return credit;
  }
}

function isOfOrphans({ shape }: Evidence): boolean {
  return shape.endsWith(ORPHANS);
}

/** Counts a useful visit; after several of them the first kind that led on has its visit back. */
function countUseful(credit: TrapCredit): void {
  credit.wasUseful = true;
  if (++credit.useful < LIST_USEFUL) return;
  credit.useful = 0;
  const kind = credit.ledOn.shift();
  if (kind !== undefined) kind.left = Math.min(kind.left + 1, CREDIT_MAX);
}
