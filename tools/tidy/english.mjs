/**
 * Plain English in comments of src/ and assembly/ (CONTRIBUTING.md, Rules with teeth): none of the words that need a second reading. A
 * module does not say, tell, hear, know, give, look, judge or owe: it returns, throws, reports, reads, checks.
 *
 *   comment ─▶ names in backticks blanked, lines joined ─▶ each word of the list is a finding
 */
import { lineAt, visitComments } from "./source.mjs";

const ROOMS = ["assembly/", "src/"];

/** Verbs in every form. To look something up, and a look-around, are the field's own words. */
const WORDS = [
  ...["says?", "said", "tells?", "told", "hears?", "heard", "knows?", "knew", "gives?", "gave"],
  ...["looks?(?!-|(?: \\w+){0,3} up\\b)", "judges?", "judged", "owes?", "owed", "lets? +go"],
  ...["nobody", "whoever", "behind +it", "that +which", "to +be +had"],
];
const PATTERN = new RegExp(`\\b(?:${WORDS.join("|")})\\b`, "gi");

export function checkEnglish({ path, tree }, report) {
  if (!ROOMS.some((room) => path.startsWith(room))) return;
  visitComments(tree, (text, position) => {
    for (const match of blanked(text).matchAll(PATTERN)) {
      const word = match[0].replace(/ +/g, " ");
      const line = lineAt(tree, position + match.index);
      report(
        "english",
        line,
        `"${word}": write what the code does (CONTRIBUTING.md, Rules with teeth)`,
      );
    }
  });
}

/** The comment as one line of the same length: positions stay, and a phrase may run over the end of a line. */
function blanked(text) {
  return text
    .replace(/`[^`]*`/g, (name) => " ".repeat(name.length))
    .replace(/\n *(?:\*|\/\/)?/g, (end) => " ".repeat(end.length));
}
