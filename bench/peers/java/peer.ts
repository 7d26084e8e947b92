/** A peer in Java: Steps.java and its Drive.java, compiled against the jars that an environment variable names. */
import { join } from "node:path";
import { ROOT } from "../../harness/machine.ts";
import { compiled, hasProgram } from "../compiled.ts";
import type { Peer } from "../peer.ts";

export interface JavaPeer extends Omit<Peer, "missing" | "command" | "open"> {
  /** A class path: jars, folders of classes and folders of sources, which javac looks into as well. */
  readonly variable: string;
  /** What must be in it. */
  readonly holds: string;
}

export function javaPeer({ variable, holds, ...facts }: JavaPeer): Peer {
  const { name } = facts;
  return {
    ...facts,
    missing() {
      const given = process.env[variable] ?? "";
      if (given === "") return `not installed: ${variable}, a class path with ${holds}`;
      return hasProgram("javac", "-version") ? undefined : "no Java compiler";
    },
    command() {
      const given = process.env[variable] as string;
      const sources = [`java/Steps.java`, `${name}/Drive.java`];
      const paths = sources.map((path) => join(ROOT, "bench/peers", path));
      const folder = compiled({
        name,
        sources: paths,
        against: given,
        command: (target) => ["javac", "-nowarn", "-cp", given, "-d", target, ...paths],
      });
      const log = join(folder, "gc-");
      const pauses = [`-Xlog:gc:file=${log}%p.log`, `-Dbench.gc=${log}`];
      return ["java", "-Xmx8g", ...pauses, "-cp", `${folder}:${given}`, "Drive"];
    },
  };
}
