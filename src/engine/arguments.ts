/** Arguments that name records: which of them a call is about (base/arguments.ts has all others). */
import { checkText, readFields } from "../base/arguments.ts";
import { misuse } from "../base/errors.ts";
import type { RecordState } from "../frontier/record-state.ts";

/** Which records a call is about. */
interface Filter {
  state?: RecordState;
  rule?: string;
  host?: string;
  pattern?: string;
  epoch?: string;
}

/** A filter that says nothing takes all, so that a misspelt field must never pass. */
export function readFilter(given: Filter, fields: ReadonlyArray<keyof Filter>): Filter {
  const filter = readFields(given, "filter", fields);
  for (const field of fields) checkText(filter[field], `filter.${field}`);
  return filter;
}

/** The expression of a pattern. */
export function expressionOf(pattern: unknown): RegExp {
  if (typeof pattern === "string") {
    try {
      return new RegExp(pattern, "u");
    } catch {
      // Named below with everything else that is no pattern.
    }
  }
  throw misuse("ARGUMENT_INVALID", "filter.pattern", pattern, "an ECMAScript pattern");
}

/** A state that a call can be asked about. */
export function checkState(state: RecordState | undefined, known: readonly string[]): void {
  if (state === undefined || known.includes(state)) return;
  throw misuse("ARGUMENT_INVALID", "filter.state", state, `one of ${known.join(", ")}`);
}
