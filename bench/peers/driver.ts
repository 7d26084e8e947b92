/**
 * The steps that every peer goes through, and the lines in which a driver outside Node reports them.
 *
 *   memory   open ─▶ push all, 1,000 a call ─▶ poll all, 1,000 a call ─▶ done all, 1,000 a call
 *   fill     the same with a directory, but half is polled and done, flushed where there is such a call ─▶ SIGKILL
 *   resume   open what fill left ─▶ poll all
 *
 *   driver <mode> <workload> <file for polled URLs> <directory>     prints one line of JSON: an Answer
 *
 * Reading the workload and writing what was polled is outside of every clock. Peers in this language go through `drive` below, by
 * bench/peers/child.ts.
 *
 *   I1  Lost and doubled are counted by who started the driver, from the files, not by the driver.
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { peakBytes, settledMemory, watchPauses } from "../harness/machine.ts";
import { nowNs } from "../harness/case.ts";
import { openWarm } from "../harness/open-warm.ts";
import { urlChunk } from "../harness/urls.ts";
import { readWorkload } from "../workload/format.ts";
import type { OpenOptions, Peer, PeerQueue } from "./peer.ts";

export type Mode = "memory" | "fill" | "resume";

export interface Answer {
  readonly title: string;
  readonly pushed: number;
  readonly accepted: number;
  readonly polled: number;
  readonly pushNs: number;
  readonly pollNs: number;
  /** Missing where a peer has no acknowledgement. */
  readonly doneNs?: number;
  readonly openNs: number;
  /** Resident before the first push, and after the last. */
  readonly restBytes: number;
  readonly fullBytes: number;
  readonly peakBytes: number;
  readonly longestCallNs: number;
  readonly longestGcNs?: number;
}

export interface Orders {
  readonly mode: Mode;
  readonly workload: string;
  readonly polledFile: string;
  readonly directory: string;
}

const CALL = 1_000;
const WARM = 5_000;

/** Takes a peer of this process through the steps. */
export async function drive(peer: Peer, orders: Orders): Promise<Answer> {
  const { mode, workload, polledFile, directory } = orders;
  const { open } = peer;
  if (open === undefined) throw new Error(`${peer.name} does not run in this process`);
  const options: OpenOptions = mode === "memory" ? {} : { directory };
  const { queue, openNs, pauses } = await openWarm(
    () => warmUp(peer),
    async () => {
      const watched = watchPauses();
      const openAt = nowNs();
      const opened = await open.call(peer, options);
      return { queue: opened, openNs: nowNs() - openAt, pauses: watched };
    },
  );
  const rest = await settledMemory();
  const pushed =
    mode === "resume"
      ? { pushed: 0, accepted: 0, pushNs: 0, longestCallNs: 0 }
      : await pushFile(queue, workload);
  const full = await settledMemory();
  const most = mode === "fill" ? Math.floor(pushed.accepted / 2) : Number.POSITIVE_INFINITY;
  const isInTurn = mode === "memory" && peer.inTurn === true;
  const { urls, pollNs, doneNs } = await (isInTurn ? pollInTurn(queue) : pollThenDone(queue, most));
  await queue.flush?.();
  writeFileSync(polledFile, urls.map((url) => `${url}\n`).join(""));
  const { maxMs } = await pauses.stop();
  const answer: Answer = {
    title: peer.title(),
    ...pushed,
    polled: urls.length,
    pollNs,
    ...(doneNs === undefined ? {} : { doneNs }),
    openNs,
    restBytes: rest.residentBytes,
    fullBytes: full.residentBytes,
    peakBytes: peakBytes(),
    longestGcNs: maxMs * 1e6,
  };
  if (mode !== "fill") await queue.close();
  return answer;
}

/** Lets compilers do their work on URLs of another workload. */
async function warmUp(peer: Peer): Promise<PeerQueue> {
  const queue = (await peer.open?.({})) as PeerQueue;
  const count = Math.min(WARM, peer.urlsMax / 50);
  for (let from = 0; from < count; from += CALL) {
    await queue.push(urlChunk(1_900_000_000 + from, Math.min(CALL, count), { hosts: 100 }));
  }
  const { handles } = await pollAll(queue, Number.POSITIVE_INFINITY);
  await doneAll(queue, handles);
  return queue;
}

async function pushFile(
  queue: PeerQueue,
  workload: string,
): Promise<Pick<Answer, "pushed" | "accepted" | "pushNs" | "longestCallNs">> {
  const reader = readWorkload(workload);
  let [pushed, accepted, pushNs, longestCallNs] = [0, 0, 0, 0];
  for (let urls = reader.next(CALL); urls.length > 0; urls = reader.next(CALL)) {
    const at = nowNs();
    const answer = queue.push(urls);
    accepted += typeof answer === "number" ? answer : await answer;
    const spent = nowNs() - at;
    pushNs += spent;
    longestCallNs = Math.max(longestCallNs, spent);
    pushed += urls.length;
  }
  reader.close();
  return { pushed, accepted, pushNs, longestCallNs };
}

/** What came out, and the time of both steps; `doneNs` is missing where there is no such word. */
interface Drained {
  readonly urls: string[];
  readonly pollNs: number;
  readonly doneNs: number | undefined;
}

async function pollThenDone(queue: PeerQueue, most: number): Promise<Drained> {
  const { handles, pollNs } = await pollAll(queue, most);
  const doneNs = await doneAll(queue, handles);
  return { urls: handles.map((handle) => queue.urlOf(handle)), pollNs, doneNs };
}

async function pollInTurn(queue: PeerQueue): Promise<Drained> {
  const urls: string[] = [];
  let [pollNs, doneNs] = [0, 0];
  for (;;) {
    const some = await pollAll(queue, CALL);
    pollNs += some.pollNs;
    if (some.handles.length === 0) return { urls, pollNs, doneNs };
    for (const handle of some.handles) urls.push(queue.urlOf(handle));
    doneNs += (await doneAll(queue, some.handles)) ?? 0;
  }
}

async function pollAll(
  queue: PeerQueue,
  most: number,
): Promise<{ handles: unknown[]; pollNs: number }> {
  const handles: unknown[] = [];
  let pollNs = 0;
  while (handles.length < most) {
    const at = nowNs();
    const answer = queue.poll(Math.min(CALL, most - handles.length));
    const some = Array.isArray(answer) ? answer : await answer;
    pollNs += nowNs() - at;
    if (some.length === 0) break;
    for (const handle of some) handles.push(handle);
  }
  return { handles, pollNs };
}

async function doneAll(queue: PeerQueue, handles: readonly unknown[]): Promise<number | undefined> {
  if (queue.done === undefined) return undefined;
  let spent = 0;
  for (let from = 0; from < handles.length; from += CALL) {
    const some = handles.slice(from, from + CALL);
    const at = nowNs();
    await queue.done(some);
    spent += nowNs() - at;
  }
  return spent;
}

/** Starts a driver and waits for its answer; `fill` ends by its own hand, by a signal. */
export function startDriver(command: readonly string[], orders: Orders): Promise<Answer> {
  const [program, ...first] = command as [string, ...string[]];
  const { mode, workload, polledFile, directory } = orders;
  const words = [...first, mode, workload, polledFile, directory];
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    const stop = (): void => {
      child.kill("SIGKILL");
    };
    process.once("exit", stop);
    child.on("error", reject);
    child.on("close", (code, signal) => {
      process.off("exit", stop);
      const isRight = mode === "fill" ? signal === "SIGKILL" : code === 0;
      const last = output.trimEnd().split("\n").at(-1) ?? "";
      if (isRight && last.startsWith("{")) resolve(JSON.parse(last) as Answer);
      else reject(new Error(`${program}: ${mode} ended with ${code ?? signal}`));
    });
  });
}
