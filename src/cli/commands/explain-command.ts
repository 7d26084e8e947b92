/** `outrider explain`: what a frontier decides about a URL, and why. */
import { explainUrl, type UrlExplanation } from "../../crawl.ts";
import { type Explanation, type Frontier, openFrontier, type RecordView } from "../../index.ts";
import { chosenFrontierOf, openChosen } from "./chosen-frontier.ts";
import { type Flag, type Parsed, UsageError } from "../flags.ts";
import { EXIT_OK, type Io } from "../io.ts";
import { readRules } from "./crawl/rules-file.ts";
import { bytes, momentText, table, whole } from "../output/number-text.ts";
import { failedText, refusedText } from "../output/outcome-text.ts";
import { lineText } from "../output/terminal-text.ts";

export const EXPLAIN_FLAGS: readonly Flag[] = [
  {
    name: "dir",
    value: "<dir>",
    text: "as the frontier in this directory sees it, also beside a crawl",
  },
  { name: "name", value: "<text>", text: "which frontier of the directory (default)" },
  { name: "user-agent", value: "<text>", text: "as whom robots.txt is read (Outrider)" },
  { name: "rules", value: "<file>", text: "decide by these rules" },
  { name: "json", text: "one JSON object a URL" },
];

export async function explainCommand(args: Parsed, io: Io): Promise<number> {
  if (args.words.length === 0) throw new UsageError("explain: no URL");
  const path = args.text("rules");
  const directory = args.text("dir");
  if (path !== undefined && directory !== undefined) {
    throw new UsageError(
      "--rules, --dir: one too many (expected: a directory has rules of its own)",
    );
  }
  const chosen =
    directory === undefined ? undefined : await chosenFrontierOf({ ...args, words: [] }, "explain");
  await using frontier =
    chosen === undefined
      ? await openFrontier(path === undefined ? {} : { rules: readRules(path).rules })
      : await openChosen(chosen, { readOnly: true });
  args.words.forEach((url, index) => {
    const explanation = frontier.explain(url);
    const own = chosen === undefined ? undefined : ownWords(args, chosen.directory, url);
    const record = chosen === undefined ? undefined : frontier.record(url);
    if (args.has("json")) {
      const more = chosen === undefined ? {} : { ...own, failure: record?.failure };
      io.out(`${JSON.stringify({ ...explanation, ...more })}\n`);
      return;
    }
    const { verdict, canonical, fingerprint, host, domain, rule } = explanation;
    const why = verdict.reason === undefined ? "" : `: ${verdict.reason}`;
    const budget = chosen?.options.defaults?.politeness?.budget;
    const rows: [string, string][] = [
      ["url", url],
      ["canonical", canonical ?? "none: not a URL that can be crawled"],
      ["fingerprint", fingerprint ?? "none"],
      ["host", host ?? "none"],
      ["domain", domain ?? "none"],
      ["rule", rule ?? "none"],
      ["verdict", `${verdict.status}${why}`],
      ...whyRows(verdict.reason, args.has("rules")),
      ...(chosen === undefined
        ? []
        : [
            ...recordRows(explanation, record),
            ...scopeRows(frontier, verdict.reason),
            ...ownRows(own),
            ...budgetRows(frontier, host, budget),
          ]),
    ];
    if (index > 0) io.out("\n");
    io.out(
      table(
        rows.map(([name, value]) => [name, lineText(value)]),
        io.outColumns(),
      ),
    );
  });
  return EXIT_OK;
}

function ownWords(args: Parsed, directory: string, url: string): UrlExplanation {
  const name = args.text("name");
  const userAgent = args.text("user-agent");
  return explainUrl(directory, url, {
    ...(name === undefined ? {} : { name }),
    ...(userAgent === undefined ? {} : { userAgent }),
  });
}

const HELD: Readonly<Record<string, string>> = Object.freeze({
  lease: "it is being visited",
  notBefore: "its own time has not come",
  every: "it comes again by its rule",
  delay: "the delay of its host",
  block: "its host asked to be left alone, or failed too often",
  limit: "the visits of its host at once",
  hold: "its host is on hold",
  group: "the clock of a group of hosts",
  paused: "the frontier is paused",
  maxLeases: "as many visits are under way as may be",
});

/** A row, where there is something to print. */
function row(name: string, value: string | undefined): [string, string][] {
  return value === undefined ? [] : [[name, value]];
}

/** Its state, what holds it, and why it failed. */
function recordRows(
  { state, heldBy, dueAt }: Explanation,
  record: RecordView | undefined,
): [string, string][] {
  const until = dueAt === undefined ? "" : `, until ${momentText(dueAt)}`;
  const { failure } = record ?? {};
  return [
    ["state", state ?? "never admitted"],
    ...row("held by", heldBy && `${HELD[heldBy]}${until}`),
    ...row("failed", failure && `${failedText(failure.reason)}, ${momentText(failure.atMs)}`),
    ...row("found on", failure?.foundOn),
  ];
}

const SCOPE_SHOWN = 5;

/** What the rules take, where none takes the URL. */
function scopeRows(frontier: Frontier, reason: string | undefined): [string, string][] {
  if (reason !== "no-rule") return [];
  const takes = (frontier.rules() ?? []).flatMap(({ match = {} }) => [
    ...(match.domains ?? []),
    ...(match.hosts ?? []),
    ...(match.pattern === undefined ? [] : [`pattern ${match.pattern}`]),
  ]);
  const more = takes.length > SCOPE_SHOWN ? ` and ${takes.length - SCOPE_SHOWN} more` : "";
  return [["scope", `${takes.slice(0, SCOPE_SHOWN).join(", ")}${more}`]];
}

const ROBOTS: Readonly<Record<UrlExplanation["robots"], string>> = Object.freeze({
  allowed: "allowed",
  disallowed: "forbidden",
  none: "allowed: the host has no robots.txt",
  unknown: "not asked yet",
});

function ownRows(own: UrlExplanation | undefined): [string, string][] {
  if (own === undefined) return [];
  const line = own.robotsLine === undefined ? "" : ` by the line "${own.robotsLine}"`;
  return [
    ["robots.txt", `${ROBOTS[own.robots]}${line}`],
    ...(own.statements ?? []).flatMap(({ kind, text, line: at }) =>
      row(kind, `${text} (line ${at} of robots.txt)`),
    ),
    ...row("left out", own.leftOutBy && `links to it are not followed: ${own.leftOutBy}`),
  ];
}

/** What its host has used of what the crawl allows it. */
function budgetRows(
  frontier: Frontier,
  key: string | undefined,
  budget: { urls?: number | undefined; bytes?: number | undefined } | undefined,
): [string, string][] {
  if (key === undefined || budget === undefined) return [];
  const host = frontier.host(key);
  const urls = budget.urls === undefined ? "" : ` of ${whole(budget.urls)}`;
  const size = budget.bytes === undefined ? "" : ` of ${bytes(budget.bytes)}`;
  return row(
    "budget",
    `${whole(host.admitted)}${urls} URLs, ${bytes(host.bytes)}${size} of its host`,
  );
}

/** The reason as text, where the text adds something. */
function whyRows(reason: string | undefined, hasRules: boolean): [string, string][] {
  if (reason === undefined) return [];
  const words = reason === "no-rule" && hasRules ? "no rule takes it" : refusedText(reason);
  return words === reason ? [] : [["why", words]];
}
