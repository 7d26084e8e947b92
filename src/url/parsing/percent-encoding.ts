/**
 * Percent-encoding, one pass from left to right over `%` (docs/formats/canonical-url.md §2.3):
 *
 *   %7e, %41      a triple that names an unreserved byte    ─▶ that byte: ~, A
 *   %c3, %2f      any other triple                          ─▶ upper-case digits: %C3, %2F
 *   %, %z1, 100%  a `%` without two hex digits after it    ─▶ %25, and reading continues after it
 *
 * I1  normalizePercent(normalizePercent(x)) = normalizePercent(x).
 */

const TRIPLE_OR_PERCENT = /%(?:[0-9a-f]{2})?/gi;
const UNRESERVED = /^[A-Za-z0-9._~-]$/;

/** A name with only one spelling. */
const PLAIN_NAME = /^[A-Za-z0-9._~-]*$/;

/** The characters that the serialiser of a query encodes, and `& =`, which cannot be part of a name there. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the percent-encode set has them.
const NOT_IN_NAME = /[\x00-\x20"#&'<=>\x7f-\u{10ffff}]/gu;

/** Step 3 of the canonical form. */
export function normalizePercent(text: string): string {
  if (!text.includes("%")) return text;
  return text.replace(TRIPLE_OR_PERCENT, (found) => {
    if (found.length === 1) return "%25";
    const character = String.fromCharCode(Number.parseInt(found.slice(1), 16));
    return UNRESERVED.test(character) ? character : found.toUpperCase();
  });
}

/** A parameter's name as a user writes it, in the form of a serialised query after step 3. */
export function encodeParamName(text: string): string {
  if (PLAIN_NAME.test(text)) return text;
  return normalizePercent(text.toWellFormed().replace(NOT_IN_NAME, encodeCharacter));
}

function encodeCharacter(character: string): string {
  let encoded = "";
  for (const byte of Buffer.from(character, "utf8")) encoded += percentByte(byte);
  return encoded;
}

/** The percent-encoded triple of a byte. */
export function percentByte(byte: number): string {
  return `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
}
