/** `outrider explain`: what a frontier decides about a URL, and why. */
import { openFrontier } from "../../index.ts";
import { type Flag, type Parsed, UsageError } from "../flags.ts";
import { EXIT_OK, type Io } from "../io.ts";
import { readRules } from "./rules-file.ts";
import { table } from "../output/number-text.ts";
import { refusedText } from "../output/outcome-text.ts";

export const EXPLAIN_FLAGS: readonly Flag[] = [
  { name: "rules", value: "<file>", text: "judge by these rules" },
  { name: "json", text: "one JSON object a URL" },
];

export async function explainCommand(args: Parsed, io: Io): Promise<number> {
  if (args.words.length === 0) throw new UsageError("explain: no URL");
  const path = args.text("rules");
  await using frontier = await openFrontier(
    path === undefined ? {} : { rules: readRules(path).rules },
  );
  args.words.forEach((url, index) => {
    const explanation = frontier.explain(url);
    if (args.has("json")) {
      io.out(`${JSON.stringify(explanation)}\n`);
      return;
    }
    const { verdict, canonical, fingerprint, host, domain, rule } = explanation;
    const why = verdict.reason === undefined ? "" : `: ${verdict.reason}`;
    if (index > 0) io.out("\n");
    io.out(
      table(
        [
          ["url", url],
          ["canonical", canonical ?? "none: not a URL that can be crawled"],
          ["fingerprint", fingerprint ?? "none"],
          ["host", host ?? "none"],
          ["domain", domain ?? "none"],
          ["rule", rule ?? "none"],
          ["verdict", `${verdict.status}${why}`],
          ...whyRows(verdict.reason, args.has("rules")),
        ],
        io.outColumns(),
      ),
    );
  });
  return EXIT_OK;
}

/** The reason as text, where the text adds something. */
function whyRows(reason: string | undefined, hasRules: boolean): [string, string][] {
  if (reason === undefined) return [];
  const words = reason === "no-rule" && hasRules ? "no rule takes it" : refusedText(reason);
  return words === reason ? [] : [["why", words]];
}
