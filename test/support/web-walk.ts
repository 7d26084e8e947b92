/** The visits of a perfect crawler on a synthetic web: walks the plan, without HTTP and without HTML. */
import { HIDDEN_PAGES, type WebPlan } from "../../src/crawl/synthetic-web/web-plan.ts";

export interface Walk {
  /** URLs that answer with a page, each to be visited once. */
  readonly pages: Set<string>;
  /** URLs that answer with a redirect. */
  readonly redirects: Set<string>;
  /** URLs that never answer with success. */
  readonly broken: Set<string>;
  readonly gone: Set<string>;
  /** Hosts to which something links, so that their robots.txt must be requested. */
  readonly hosts: Set<number>;
}

export function walkWeb(plan: WebPlan): Walk {
  const walk: Walk = {
    pages: new Set(),
    redirects: new Set(),
    broken: new Set(),
    gone: new Set(),
    hosts: new Set(),
  };
  const seen = new Set<string>();
  const queue: Array<[number, string]> = [];
  const add = (host: number, path: string): void => {
    const key = `${host}${path}`;
    if (seen.has(key)) return;
    seen.add(key);
    if (!walk.hosts.has(host)) {
      walk.hosts.add(host);
      const hidden = plan.hasSitemap(host) ? HIDDEN_PAGES : 0;
      for (let page = 0; page < hidden; page++) add(host, `/hidden/${page}`);
    }
    queue.push([host, path]);
  };
  add(0, "/");
  for (let at = 0; at < queue.length; at++) {
    const [host, path] = queue[at] as [number, string];
    visitOne(plan, walk, { host, path, add });
  }
  return walk;
}

function visitOne(
  plan: WebPlan,
  walk: Walk,
  { host, path, add }: { host: number; path: string; add: (host: number, path: string) => void },
): void {
  const robots = plan.robotsOf(host);
  if (robots === "broken" || robots === "closed") return;
  const url = `http://${plan.hostName(host)}${path}`;
  const [, kind = "", number = "0"] = path.split("/");
  if (kind === "private" && robots === "rules") return;
  if (kind === "private" || kind === "hidden") {
    walk.pages.add(url);
    return;
  }
  const page = Number(number);
  if (kind === "go") {
    walk.redirects.add(url);
    add(host, `/p/${page}`);
    return;
  }
  const fate = plan.fateOf(host, page);
  if (fate === "gone") walk.gone.add(url);
  else if (fate === "broken" || fate === "reset") walk.broken.add(url);
  else {
    walk.pages.add(url);
    for (const link of plan.linksOf(host, page)) add(link.host, link.path);
  }
}
