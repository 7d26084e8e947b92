/** Runnable blocks of a document: every fence marked `js`, or by another of `languages`. A fence marked `text` right after it is the expected output. */
export interface CodeBlock {
  readonly line: number;
  readonly language: string;
  readonly code: string;
  readonly prints: string | undefined;
}

interface Fence {
  readonly language: string;
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

export function codeBlocks(markdown: string, languages: readonly string[] = ["js"]): CodeBlock[] {
  const lines = markdown.split("\n");
  const all = fences(lines);
  return all.flatMap((fence, index) => {
    const { language } = fence;
    if (!languages.includes(language)) return [];
    const next = all[index + 1];
    const isBeside =
      next?.language === "text" &&
      lines.slice(fence.last + 1, next.first).every((line) => line.trim() === "");
    const prints = isBeside ? next.text : undefined;
    return [{ line: fence.first + 1, language, code: fence.text, prints }];
  });
}

/** Targets of links into the repository, without their anchors. */
export function localLinks(markdown: string): string[] {
  const targets = [...markdown.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1] as string);
  return targets
    .filter((target) => !/^([a-z]+:|#)/.test(target))
    .map((target) => target.replace(/#.*$/, ""));
}

function fences(lines: string[]): Fence[] {
  const found: Fence[] = [];
  let first = -1;
  lines.forEach((line, index) => {
    if (!line.startsWith("```")) return;
    if (first < 0) {
      first = index;
      return;
    }
    const text = `${lines.slice(first + 1, index).join("\n")}\n`;
    found.push({ language: (lines[first] as string).slice(3).trim(), first, last: index, text });
    first = -1;
  });
  return found;
}
