/**
 * The one door of text to a terminal. Text from a server, a page, a file or an argument may hold bytes that a terminal takes for
 * commands (C0, DEL, C1) or letters that turn the order of what is read; they are written as their codes, `\u009b`.
 *
 *   text ─▶ terminalText ─────────────────────┐
 *   parts: text ─▶ terminalText               ├─▶ Io (io.ts), the sole user of the process's streams
 *          command ─▶ its sequence, from here ┘
 *
 *   I1  What leaves holds no command but those of SEQUENCES, and a line feed and a tab.
 *   I2  A code is written as JSON writes it: a line of JSON keeps its meaning.
 *
 * `tools/tidy/fence.mjs` (fence-terminal) refuses every other way out.
 */

/** What a view may do besides writing text. */
type ScreenCommand =
  | { readonly command: "up"; readonly rows: number }
  | { readonly command: keyof typeof SEQUENCES };

/** What is drawn: text that may come from anywhere, or a command of our own. */
export type ScreenPart = string | ScreenCommand;

const SEQUENCES = Object.freeze({
  lineStart: "\r",
  clearLine: "\x1b[K",
  clearBelow: "\x1b[J",
  hideCursor: "\x1b[?25l",
  showCursor: "\x1b[?25h",
  strong: "\x1b[1m",
  notStrong: "\x1b[22m",
});

// C0 but tab and line feed, DEL, C1; marks, embeddings, overrides and isolates of direction; the separators of lines and paragraphs.
const COMMANDS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is replaced.
  /[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

/** Text as a terminal may be given it: lines stay lines. */
export function terminalText(text: string): string {
  return text.replace(COMMANDS, codeOf);
}

/** Text for a place within a line: it cannot begin another line that imitates ours. */
export function lineText(text: string): string {
  return terminalText(text).replace(/[\n\t]/g, codeOf);
}

/** What a view draws, as one text. */
export function screenText(parts: readonly ScreenPart[]): string {
  return parts
    .map((part) => (typeof part === "string" ? terminalText(part) : sequence(part)))
    .join("");
}

function sequence(part: ScreenCommand): string {
  if (part.command !== "up") return SEQUENCES[part.command];
  return part.rows > 0 ? `\x1b[${Math.trunc(part.rows)}A` : "";
}

function codeOf(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
}
