import { expect, test } from "vitest";
import { codeLines } from "../../tools/count-lines.mjs";

const cases: Array<[what: string, text: string, lines: number]> = [
  ["nothing", "", 0],
  ["blank lines", "\n  \n\t\n", 0],
  ["line comments", "// one\n  // two\n", 0],
  ["a header and a documented constant", "/**\n * head\n */\n\n/** doc */\nconst a = 1;\n", 1],
  ["code before a comment", "const a = 1; // why\n", 1],
  ["code after a comment", "/* why */ const a = 1;\n", 1],
  ["a lone bracket", "if (a) {\n  b();\n}\n", 3],
  ["comment marks in a string", 'const a = "/*";\nconst b = "*/";\n', 2],
  ["comment marks in a template", "const a = `\n// text\n * text\n`;\n", 4],
  ["a blank line in a template", "const a = `\n\n`;\n", 2],
  ["a comment between two arguments", "f(\n  a, // one\n  // two\n  b,\n);\n", 4],
  ["a comment at the end of a block", "f(() => {\n  a();\n  // last\n});\n// end", 3],
  ["line ends of two characters", "a();\r\n\r\n// one\r\nb();\r\n", 2],
  ["a decorator", "// why\n@inline\nfunction f(): void {}\n", 2],
];

test.each(cases)("counts the code lines of %s", (_what, text, lines) => {
  expect(codeLines(text)).toBe(lines);
});
