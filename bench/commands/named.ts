/**
 * Cases that were named, at their real or smoke sizes: a table each, and a result file each.
 *
 * At smoke size everything runs in this process: what is shown is that it runs, not how fast.
 */
import { join } from "node:path";
import { type BenchCase, type Params, ROUNDS, roundsOf } from "../harness/case.ts";
import { CHILD_FLAGS, observeHere, observeInChild } from "../harness/child.ts";
import { readEstimates } from "../harness/estimates.ts";
import { machineOf, ROOT } from "../harness/machine.ts";
import { dropSuperseded } from "./report.ts";
import { resultOf, type ResultFile, writeResult } from "../harness/result-file.ts";
import { type CaseResult, paramText, runCase } from "../harness/run-case.ts";
import { headText, resultText } from "../harness/table.ts";
import { createCountdown, forecast, forecastText, type Ordered, shareOf } from "./forecast.ts";

export interface NamedFlags {
  readonly isSmoke: boolean;
  /** The large sizes besides the real ones. */
  readonly large: boolean;
  readonly rounds: number | undefined;
  readonly params: string | undefined;
  /** Seconds that an observation of a peer may take; ours have the time they need. */
  readonly limit: number | undefined;
  /** Seconds for all of them together; rounds end early then. */
  readonly budgetSeconds: number | undefined;
  readonly write: boolean;
  readonly json: boolean;
  readonly list: boolean;
}

/** Longer than any peer that ends at all takes at the sizes that there are, and short enough to be waited for. */
const LIMIT_SECONDS = 600;

/** Returns the exit code. */
export async function runNamed(chosen: readonly BenchCase[], flags: NamedFlags): Promise<number> {
  if (flags.list) {
    for (const bench of chosen) console.log(listText(bench));
    return 0;
  }
  const { params: wanted } = flags;
  if (wanted !== undefined && chosen.every((bench) => sizesOf(bench, flags).length === 0)) {
    const sizes = chosen.flatMap((bench) => allSizes(bench, flags).map(paramText));
    const large = chosen.flatMap(({ sizes: { large = [] } }) => large.map(paramText));
    const more =
      flags.large || large.length === 0 ? "" : `; with --large also ${large.join(" | ")}`;
    console.error(`--params: ${wanted} (expected: of ${sizes.join(" | ")}${more})`);
    return 2;
  }
  const { budgetSeconds } = flags;
  const endMs = budgetSeconds === undefined ? undefined : performance.now() + budgetSeconds * 1e3;
  const orders = chosen.map((bench) => ordersOf(bench, flags));
  let failed = 0;
  for (const [at, bench] of chosen.entries()) {
    failed += (await runOne(bench, flags, { endMs, left: orders.slice(at).flat() })) ? 0 : 1;
  }
  return failed === 0 ? 0 : 1;
}

function listText(bench: BenchCase): string {
  const pairs = bench.pairs.map(([subject, peer]) => `${subject} / ${peer}`).join(", ");
  const { real, large = [] } = bench.sizes;
  const more = large.length === 0 ? "" : ` | with --large: ${large.map(paramText).join(" | ")}`;
  const sizes = real.map(paramText).join(" | ") + more;
  const target = bench.target === undefined ? "" : `\n    target: ${bench.target}`;
  return `${bench.suite} ${bench.name}: ${bench.about}\n    ${pairs}\n    ${sizes}${target}`;
}

function sizeName({ isSmoke }: NamedFlags): "smoke" | "real" {
  return isSmoke ? "smoke" : "real";
}

/** The sizes of a case that were asked for. */
function sizesOf(bench: BenchCase, flags: NamedFlags): Params[] {
  return allSizes(bench, flags).filter((params) => matches(params, flags.params));
}

function allSizes({ sizes }: BenchCase, flags: NamedFlags): readonly Params[] {
  const usual = sizes[sizeName(flags)];
  return flags.large && !flags.isSmoke ? [...usual, ...(sizes.large ?? [])] : usual;
}

/** Whether a size has every `name=value` of a list. */
export function matches(params: Params, wanted: string | undefined): boolean {
  if (wanted === undefined) return true;
  return wanted.split(",").every((each) => {
    const [name, value] = each.split("=");
    return name !== undefined && String(params[name]) === value;
  });
}

function ordersOf(bench: BenchCase, flags: NamedFlags): Ordered[] {
  const wanted = flags.rounds ?? (flags.isSmoke ? ROUNDS.smoke : undefined);
  return sizesOf(bench, flags).map((params) => {
    return { bench, params, rounds: wanted ?? roundsOf(bench, params) };
  });
}

/** What of the time is left, and for whom: the sizes of this case and of those after it. */
interface Queue {
  readonly endMs: number | undefined;
  readonly left: readonly Ordered[];
}

/** True when all of its sizes ran and every checksum agreed. */
async function runOne(bench: BenchCase, flags: NamedFlags, queue: Queue): Promise<boolean> {
  const size = sizeName(flags);
  const machine = machineOf(ROOT, bench.process === "fresh" ? CHILD_FLAGS : []);
  const startedAt = new Date();
  const estimates = readEstimates(join(ROOT, "bench/results"));
  const limitOf = (side: string): { limitSeconds?: number } =>
    side === bench.pairs[0]?.[0] ? {} : { limitSeconds: flags.limit ?? LIMIT_SECONDS };
  const isHere = flags.isSmoke && (flags.rounds ?? ROUNDS.smoke) === ROUNDS.smoke;
  if (!flags.json) console.log(headText(bench));
  const results: CaseResult[] = [];
  try {
    for (const [at, order] of queue.left.entries()) {
      if (order.bench !== bench) break;
      const { params, rounds } = order;
      if (!flags.isSmoke) console.error(forecastText(order, estimates));
      const time = shareOf(queue.left.slice(at), { endMs: queue.endMs, estimates });
      const left = createCountdown(forecast(order, estimates));
      const result = await runCase({
        ...{ bench, params, rounds, ...(time === undefined ? {} : { time }) },
        observeFresh: (side) =>
          isHere
            ? observeHere(bench, side, params)
            : observeInChild(
                { suite: bench.suite, bench: bench.name, side, params },
                limitOf(side),
              ),
        progress: (text, share) => progress(`${text}, ${left(share)}`),
      });
      progress("");
      results.push(result);
      if (!flags.json) console.log(resultText(bench, result));
    }
  } catch (error) {
    progress("");
    console.error(error instanceof Error ? error.message : error);
    return false;
  }
  const file: ResultFile = { bench, size, startedAt, machine, results };
  if (flags.json) console.log(JSON.stringify(resultOf(file)));
  if (flags.write && results.length > 0) {
    const path = writeResult(join(ROOT, "bench/results"), file);
    if (!flags.json) console.log(`\n  ${path.slice(ROOT.length)}`);
    dropSuperseded();
  }
  return true;
}

/** One line that is redrawn, only on a terminal. */
export function progress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
