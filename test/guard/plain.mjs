/** Answers as plain data in a fixed order of fields, so that two of them compare as text. */
import { ADDED, ADDED_TO_LIVE, REPORT_IGNORED, REPORT_LINES_IGNORED, WORDS } from "./renames.mjs";

const LEASE_FIELDS = [
  ...["url", "method", "body", "headers", "priority", "depth", "attempt", "deliveries", "host"],
  ...["rule", "parent", "handler", "redirects", "data", "fingerprint", "deadlineMs"],
];
const HOST_FIELDS = [
  ...["key", "delayMs", "limit", "address", "leased", "readyAt", "held", "failures", "admitted"],
  "bytes",
];

/** What makes an answer of one side comparable: `side` is "old" or "new", `hidden` are texts that differ by nature. */
export function createReader(side, hidden = []) {
  const words = side === "new" ? WORDS : {};
  const added = new Set(side === "new" ? ADDED : []);

  const textOf = (text) => {
    const word = words[text] ?? text;
    if (hidden.length === 0 || !word.includes("/")) return word;
    return hidden.reduce((left, [one, shown]) => left.replaceAll(one, shown), word);
  };

  const plain = (value) => {
    if (typeof value === "string") return textOf(value);
    if (typeof value !== "object" || value === null) return primitive(value);
    if (value instanceof Error) return fault(value);
    if (value instanceof Date) return { date: value.getTime() };
    if (ArrayBuffer.isView(value)) return { [value.constructor.name]: [...value] };
    if (value instanceof Set) return { set: [...value].map(plain) };
    if (Array.isArray(value)) return value.map(plain);
    return objectOf(value);
  };

  const objectOf = (value) => {
    if (typeof value.release === "function") return fields(value, LEASE_FIELDS);
    if (typeof value.verdict === "function") return pushed(value);
    const made = {};
    const isLive = side === "new" && "attempts" in value && !("trail" in value);
    const alsoAdded = isLive ? ADDED_TO_LIVE : [];
    for (const field of Object.keys(value).sort()) {
      const one = value[field];
      if (typeof one === "function" || one === undefined || added.has(field)) continue;
      if (alsoAdded.includes(field)) continue;
      made[words[field] ?? field] = plain(one);
    }
    return made;
  };

  const fields = (value, names) => {
    const made = {};
    for (const name of names) if (value[name] !== undefined) made[name] = plain(value[name]);
    return made;
  };

  const pushed = (result) => {
    const { size, accepted, deferred, duplicate, rejected, full, late } = result;
    const verdicts = Array.from({ length: size }, (_, at) => verdict(result.verdict(at)));
    return { size, accepted, deferred, duplicate, rejected, full, late, verdicts };
  };

  const verdict = ({ status, reason, admitted }) =>
    `${textOf(status)} ${textOf(reason ?? "-")} ${admitted}`;

  /** The wording of a message is free; its code and the field that it names are not. */
  const fault = (cause) => {
    if (typeof cause !== "object" || cause === null) return { thrown: String(cause) };
    const { name, code, details } = cause;
    if (code === undefined) return { thrown: name, message: textOf(cause.message) };
    return { thrown: name, code: textOf(code), of: textOf(String(details?.name ?? "-")) };
  };

  const report = (value) => {
    const kept = {
      ...withoutIgnored(plain(value), REPORT_IGNORED),
      text: linesOf(value).map(textOf),
    };
    if (value.seenSet.mode !== "exact") delete kept.seen; // the old one is wrong after a restart
    return mayHoldHostsOnDisk(value) ? withoutLanes(kept) : kept;
  };

  return { plain, fault, report, host: (value) => fields(value, HOST_FIELDS), hidden };
}

function linesOf(report) {
  const lines = String(report).split("\n");
  return lines.filter((line) => !REPORT_LINES_IGNORED.some((word) => line.startsWith(word)));
}

/** Whether hosts may be on disk: `lanes` counts those in memory, and the old package kept all hosts there. */
function mayHoldHostsOnDisk({ durability: { flushedAt, journalBytes, snapshotAt } }) {
  return flushedAt !== undefined || snapshotAt !== undefined || journalBytes > 0;
}

function withoutLanes({ lanes: _, text, ...kept }) {
  return { ...kept, text: text.map((line) => line.replace(/, lanes [\d,]+$/, "")) };
}

function primitive(value) {
  if (value === undefined) return "(undefined)";
  if (typeof value === "bigint") return { bigint: String(value) };
  if (typeof value === "number" && (Object.is(value, -0) || !Number.isFinite(value))) {
    return { number: Object.is(value, -0) ? "-0" : String(value) };
  }
  return typeof value === "function" ? "(function)" : value;
}

function withoutIgnored(value, ignored) {
  const kept = {};
  for (const [name, one] of Object.entries(value)) {
    if (ignored[name] === true) continue;
    kept[name] = ignored[name] === undefined ? one : withoutIgnored(one, ignored[name]);
  }
  return kept;
}
