export function codeLines(text: string): number;
