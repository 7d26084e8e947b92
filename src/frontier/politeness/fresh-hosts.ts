/**
 * Fresh hosts: the first turn of hosts that were never leased, where a rule bounds the share of new hosts of one registrable domain
 * (RulePolicy.freshHosts). Without that bound a page that links to ever new subdomains keeps every other host waiting: a host that was
 * never leased goes before all others.
 *
 *   hand-outs   …  100 ────────── 110 ────────── 120 ────────── 130
 *   a.trap.example  first of its domain: before all others, as ever
 *   b.trap.example                 110.0…
 *   c.trap.example                                120.0…        and so on: one in ten hand-outs
 *
 * A host that comes later than its domain's share allows gets the turn of a host that was leased then: it waits among the others in the
 * order of turns, and goes at once where nothing else may go. The cost is one lookup of the domain per new host, and 8 bytes for each of
 * FRESH_PLACES, however many domains there are. Domains that share a place share their turns too: the later one waits a little longer.
 *
 *   F1  A turn decided here is not a whole number, so it is never taken for a hand-out: recovery counts hand-outs from whole turns.
 *   F2  A host's first turn is decided once; a hand-out that is undone restores that turn. A page that is put as visited decides it too.
 *
 * A crash loses the places: after a restart each domain begins with its share unused. Turns that were decided stand in the journal.
 */
import {
  HOST_QUEUES_WORD,
  HOST_TURN_DECIDED,
  HOST_TURN_WORD,
  hostFlag,
  hostName,
  QUEUE_NEXT_WORD,
  QUEUE_PENDING_WORD,
  RULE_SHARED,
  setHostFlag,
} from "../../structures/hosts/host-table.ts";
import { float, hashText, setFloat, word } from "../../structures/store.ts";
import { registrableDomain } from "../../url/parsing/registrable-domain.ts";
import { type Core, ruleOfQueue } from "../core.ts";
import { LOG_HOST_CLOCK } from "../records/transition-log.ts";

/** A power of two: 512 KiB, made with the first rule that asks for shares. */
const FRESH_PLACES = 65_536;
/** Turns of one hand-out differ by fractions of this, in the order in which they were decided. */
const FRACTIONS = 4096;
/** Letters of a host, port included, by the rules of names. */
const NAME_MAX = 260;

/** Decides the first turn of a host that was never leased, once. @hot */
export function decideFirstTurn(core: Core, host: number): void {
  if ((core.flagsSeen & RULE_SHARED) === 0) return;
  const { store } = core;
  if (float(store, host, HOST_TURN_WORD) >= 0) return;
  if (!hostFlag(store, host, HOST_TURN_DECIDED)) decide(core, host);
}

function decide(core: Core, host: number): void {
  const gap = gapOf(core, host);
  if (gap === 0) return;
  const { store, leaseSequence } = core;
  core.fresh ??= { nextAt: new Float64Array(FRESH_PLACES), decided: 0 };
  const { fresh } = core;
  const hash = new Uint32Array(2);
  // A key that the user made may be of any length; a domain stands at its end.
  hashText(store, registrableDomain(hostName(store, host).slice(-NAME_MAX)), hash);
  const place = (hash[0] as number) & (FRESH_PLACES - 1);
  const at = fresh.nextAt[place] as number;
  fresh.nextAt[place] = Math.max(at, leaseSequence) + gap;
  setHostFlag(store, host, HOST_TURN_DECIDED, true);
  if (at <= leaseSequence) return;
  const fraction = 1 + (fresh.decided++ % (FRACTIONS - 1));
  setFloat(store, host, HOST_TURN_WORD, Math.floor(at) + fraction / FRACTIONS);
  core.log?.host(host, LOG_HOST_CLOCK);
}

/** Hand-outs from one new host of its domain to the next; 0: no rule that has work on it bounds them. */
function gapOf(core: Core, host: number): number {
  const { store } = core;
  let queue = word(store, host, HOST_QUEUES_WORD);
  for (; queue !== 0; queue = word(store, queue, QUEUE_NEXT_WORD)) {
    if (word(store, queue, QUEUE_PENDING_WORD) === 0) continue;
    const { policy } = ruleOfQueue(core, queue);
    if (policy.isPolite && policy.freshGap > 0) return policy.freshGap;
  }
  return 0;
}
