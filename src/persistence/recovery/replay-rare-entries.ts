/**
 * Replay of rare entries: hosts, notes, epochs, identities that are forgotten or disowned, a cleared frontier.
 * replay-journal.ts replays the entries about records; its invariants hold here too.
 */
import { memoryFull } from "../../base/errors.ts";
import {
  JOURNAL_CLEARED,
  JOURNAL_DISOWNED_WORDS,
  JOURNAL_EPOCH_WORDS,
  JOURNAL_FORGOTTEN,
  JOURNAL_GROUP_CLOCK_WORDS,
  JOURNAL_HOST_ADDRESS_WORDS,
  JOURNAL_HOST_ALL,
  JOURNAL_HOST_ALL_WORDS,
  JOURNAL_HOST_CLOCK_WORDS,
  JOURNAL_HOST_MADE_WORDS,
  JOURNAL_MEMBER,
  JOURNAL_NOTE_WORDS,
  JOURNAL_UNSEEN_WORDS,
  JOURNAL_WAS_DONE,
  JOURNAL_WAS_FAILED,
  JOURNAL_WAS_REMOVED,
} from "../../layout/files/journal.ts";
import { HOST_LIVE_WORD } from "../../layout/records/host.ts";
import { epochAdd, epochClear, epochOpen } from "../../structures/seen/epoch-table.ts";
import { memberFree } from "../../structures/hosts/group-table.ts";
import { hostForget, isHashOf } from "../../structures/hosts/host-table.ts";
import {
  RECORD_FAILED,
  RECORD_FLAG_NO_IDENTITY,
  RECORD_RESTING,
  recordFlags,
  recordState,
  setRecordFlags,
  setRecordName,
} from "../../structures/records/record.ts";
import { seenForget, seenRemove } from "../../structures/seen/seen-set.ts";
import { word } from "../../structures/store.ts";
import { bytesOf, double, type Replay, take, viewOf } from "./entry-reader.ts";
import { checkClock, checkHostDoubles, checkName, checkTurn, wrong } from "./check-fields.ts";
import { VISITED_NOTE } from "../transfer/digest-file.ts";
import { eachLiveRecord } from "../journal/live-records.ts";
import { TIME_NOTE } from "../journal/journal-log.ts";
import { forgetSpilled, isNameFree, keepName, tryNameRecord } from "../journal/nameless-records.ts";
import { volatileStep } from "../journal/volatile-counts.ts";
import { packr } from "../msgpack.ts";
import { remakeHost, restoreGroup, setRestoredAddress, setRestoredHost } from "./restore-hosts.ts";
import { clearCopied, dropCopied } from "./copied-records.ts";
import {
  clearRestoration,
  dropRestored,
  hostOfHash,
  type Restoration,
  restoredRecord,
  setRuleIds,
} from "./restore-records.ts";
import {
  bookEntry,
  bookForgotten,
  bookSeen,
  endGeneration,
  LEDGER,
  setSeen,
} from "../../frontier/records/ledger.ts";

export function applyHostMade(replay: Replay): void {
  const { restoration, words } = replay;
  const at = take(replay, JOURNAL_HOST_MADE_WORDS);
  const name = checkName(viewOf(replay, words[at + 3] as number));
  const [lo, hi] = [words[at + 1] as number, words[at + 2] as number];
  // Its records would be found at a host of another name.
  if (!isHashOf(restoration.core.hosts, name, lo, hi))
    throw wrong("a host whose hash is another's");
  remakeHost(restoration, name, { lo, hi, turn: checkTurn(double(replay, at + 4)) });
}

export function applyHost(replay: Replay, kind: number): void {
  const { restoration, words } = replay;
  const isAll = kind === JOURNAL_HOST_ALL;
  const at = take(replay, isAll ? JOURNAL_HOST_ALL_WORDS : JOURNAL_HOST_CLOCK_WORDS);
  const host = hostOfHash(restoration, words[at + 1] as number, words[at + 2] as number);
  if (host === 0) {
    replay.astray++;
    return;
  }
  const doubles = [0, 0, 0, 0, 0, 0];
  for (let i = 0; i < (isAll ? 6 : 2); i++) doubles[i] = double(replay, at + 3 + i * 2);
  checkHostDoubles(doubles);
  setRestoredHost(restoration, host, doubles, isAll ? words.subarray(at + 15, at + 19) : undefined);
}

export function applyAddress(replay: Replay): void {
  const { restoration, words } = replay;
  const at = take(replay, JOURNAL_HOST_ADDRESS_WORDS);
  const address = bytesOf(replay, words[at + 3] as number);
  const host = hostOfHash(restoration, words[at + 1] as number, words[at + 2] as number);
  if (host === 0) replay.astray++;
  else setRestoredAddress(restoration, host, address);
}

export function applyGroupClock(replay: Replay): void {
  const { restoration, words } = replay;
  const at = take(replay, JOURNAL_GROUP_CLOCK_WORDS);
  const lo = words[at + 1] as number;
  restoreGroup(restoration.core, lo, words[at + 2] as number, checkClock(double(replay, at + 3)));
}

export function applyNote(replay: Replay): void {
  const { restoration, words } = replay;
  const at = take(replay, JOURNAL_NOTE_WORDS);
  const name = Buffer.from(bytesOf(replay, words[at + 1] as number)).toString("utf8");
  const value = bytesOf(replay, words[at + 2] as number);
  restoration.notes.set(name, value);
  restoration.notedAt.set(name, replay.place);
  if (name === "counters") countFrom(restoration, value);
  if (name === TIME_NOTE) restoration.timeMs = Number(packr.unpack(value));
  if (name !== "ruleIds") return;
  const ids = packr.unpack(value) as unknown;
  const areIds = Array.isArray(ids) && ids.every((id) => typeof id === "string");
  if (!areIds) throw wrong("an invalid list of rules");
  setRuleIds(restoration, ids as string[]);
}

/** Identities are counted from the last note on: an admission in place of a known one counts none, and its entry does not show that. */
function countFrom({ core }: Restoration, note: Uint8Array): void {
  const { seen } = packr.unpack(note) as { readonly seen?: unknown };
  if (Number.isSafeInteger(seen) && (seen as number) >= 0) setSeen(core, seen as number);
}

export function applyEpoch(replay: Replay): void {
  const { restoration, words } = replay;
  const at = take(replay, JOURNAL_EPOCH_WORDS);
  const name = checkName(bytesOf(replay, words[at + 1] as number));
  restoration.epoch = Buffer.from(name).toString("utf8");
  restoration.joined.add(restoration.epoch);
}

export function applyDisowned(replay: Replay): void {
  const { restoration, words } = replay;
  const at = take(replay, JOURNAL_DISOWNED_WORDS);
  const { core, names } = restoration;
  const lo = words[at + 1] as number;
  const hi = words[at + 2] as number;
  const record = restoredRecord(restoration, false, lo, hi);
  restoration.listener?.onForgotten(lo, hi);
  dropCopied(restoration, lo, hi);
  seenRemove(core.seen, lo, hi);
  bookSeen(core, -1);
  restoration.hasForgotten = true;
  if (record === 0) return; // earlier versions named volatile records here
  const flags = recordFlags(core.store, record) | RECORD_FLAG_NO_IDENTITY;
  setRecordFlags(core.store, record, flags);
  setRecordName(core.store, record, words[at + 3] as number, words[at + 4] as number);
  if (!isNameFree(names, record, record)) throw wrong("two records of one name");
  keepName(names, record);
}

/** An identity is new again; its old state is counted as forgotten. */
export function applyUnseen(replay: Replay): void {
  const { restoration, words } = replay;
  const at = take(replay, JOURNAL_UNSEEN_WORDS);
  const { core } = restoration;
  const lo = words[at + 1] as number;
  const hi = words[at + 2] as number;
  const was = words[at + 3] as number;
  if (was > JOURNAL_WAS_FAILED) throw wrong(`an identity that was ${was}`);
  const record = restoredRecord(restoration, false, lo, hi);
  if (record !== 0) dropRestored(restoration, record);
  restoration.listener?.onForgotten(lo, hi);
  dropCopied(restoration, lo, hi);
  seenRemove(core.seen, lo, hi);
  bookSeen(core, -1);
  restoration.hasForgotten = true;
  if (was === JOURNAL_WAS_DONE) bookForgotten(core);
  else if (was !== JOURNAL_WAS_REMOVED) bookEntry(core, LEDGER.forget, RECORD_FAILED);
}

export function applyPlain(restoration: Restoration, kind: number, lo: number, hi: number): void {
  const { core } = restoration;
  switch (kind) {
    case JOURNAL_FORGOTTEN:
      restoration.listener?.onAllForgotten();
      applyForgotten(restoration);
      break;
    case JOURNAL_CLEARED:
      restoration.listener?.onAllForgotten();
      clearRestoration(restoration);
      break;
    case JOURNAL_MEMBER: {
      if (restoration.epoch === "") throw wrong("a member of no epoch");
      const epoch = epochOpen(core.epochs, restoration.epoch);
      if (epoch === 0 || !epochAdd(core.epochs, epoch, lo, hi)) throw memoryFull();
      break;
    }
    default: {
      const host = hostOfHash(restoration, lo, hi);
      // A later entry may have created records on it again: then the host was created again too.
      if (host === 0 || word(core.store, host, HOST_LIVE_WORD) > 0) return;
      restoration.host = 0;
      memberFree(core.store, host);
      hostForget(core.hosts, host);
    }
  }
}

/** Begins a new generation: failed records end, and the others get the names that they got when the entry was logged. */
function applyForgotten(restoration: Restoration): void {
  const { core, names } = restoration;
  const { store } = core;
  const all: number[] = [];
  eachLiveRecord(core, names, (record) => all.push(record));
  restoration.notes.delete(VISITED_NOTE);
  clearCopied(restoration);
  seenForget(core.seen);
  epochClear(core.epochs);
  for (const record of all) {
    if (recordState(store, record) === RECORD_FAILED) {
      bookEntry(core, LEDGER.forget, RECORD_FAILED);
      dropRestored(restoration, record);
    } else if (recordState(store, record) === RECORD_RESTING) {
      dropRestored(restoration, record); // counted as done
    } else if ((recordFlags(store, record) & RECORD_FLAG_NO_IDENTITY) === 0) {
      if (!tryNameRecord(names, record)) throw wrong("two records in one place");
    }
  }
  forgetSpilled(names);
  endGeneration(core, 0);
  setSeen(core, 0);
}

/** Counts a step of a volatile record. */
export function applyVolatile(restoration: Restoration, kind: number, head: number): void {
  const step = volatileStep(kind, head);
  if (step === undefined) return;
  bookEntry(restoration.core, step.entry, step.from);
  restoration.volatileLive += step.live;
}
