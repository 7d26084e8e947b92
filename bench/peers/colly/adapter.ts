/** colly's queue among the peers: drive.go, compiled with the packages of a GOPATH that has colly (COLLY_GOPATH, or Debian's). */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../harness/machine.ts";
import { compiled, hasProgram } from "../compiled.ts";
import type { Peer } from "../peer.ts";

const DEBIAN = "/usr/share/gocode";
const SOURCE = join(ROOT, "bench/peers/colly/drive.go");

export const collyPeer: Peer = {
  name: "colly",
  title: () => "colly's queue and visited set, in memory",
  missing() {
    if (!existsSync(join(gopath(), "src/github.com/gocolly/colly/v2/queue")))
      return "not installed: COLLY_GOPATH, a folder with its source";
    return hasProgram("go", "version") ? undefined : "no Go compiler";
  },
  urlsMax: 1_000_000,
  isDurable: false,
  command() {
    const folder = compiled({
      name: "colly",
      sources: [SOURCE],
      against: gopath(),
      command: (target) => ["go", "build", "-o", join(target, "drive"), SOURCE],
      environment: { GOPATH: gopath(), GO111MODULE: "off", GOFLAGS: "" },
    });
    return [join(folder, "drive")];
  },
};

function gopath(): string {
  return process.env.COLLY_GOPATH ?? DEBIAN;
}
