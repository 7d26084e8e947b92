/**
 * Items as lines of CSV (RFC 4180): the columns are the fields of the first item. An item with a field that has no column yet begins a
 * new file with that column as well, so that nothing of it is lost.
 *
 *   I1  A value that is no text, number or truth is written as JSON; what is missing is an empty cell.
 */

/** Items as the lines of a file. */
export type ItemLines = ReturnType<typeof createCsvLines>;

/** `head`: of the file that is appended to; empty: it begins. */
export function createCsvLines(head: string) {
  let columns = head === "" ? [] : cellsOf(head);
  return {
    /** `new`: the item needs columns that the file has not; its head is another one from now on. */
    take(item: unknown): "same" | "new" {
      const fields = fieldsOf(item);
      const more = Object.keys(fields).filter((name) => !columns.includes(name));
      if (more.length === 0) return "same";
      // An item that cannot be written brings no column.
      for (const value of Object.values(fields)) cell(value);
      columns = [...columns, ...more];
      return "new";
    },
    /** The first line of a file. */
    head: (): string => `${columns.map(cell).join(",")}\r\n`,
    line(item: unknown): string {
      const fields = fieldsOf(item);
      return `${columns.map((name) => cell(fields[name])).join(",")}\r\n`;
    },
  };
}

const QUOTE = 34;
const NEWLINE = 10;

/** Finds the end of the last whole line of a file that is read piece by piece: a line break between quotes is part of a cell. */
export function createCsvEnd(): { read(piece: Uint8Array): void; readonly end: number } {
  let at = 0;
  let end = 0;
  let isQuoted = false;
  return {
    read(piece) {
      for (let index = 0; index < piece.length; index++) {
        if (piece[index] === QUOTE) isQuoted = !isQuoted;
        else if (piece[index] === NEWLINE && !isQuoted) end = at + index + 1;
      }
      at += piece.length;
    },
    get end() {
      return end;
    },
  };
}

/** What is no object is a column of its own. */
function fieldsOf(item: unknown): Record<string, unknown> {
  const isPlain = typeof item === "object" && item !== null && !Array.isArray(item);
  return isPlain ? (item as Record<string, unknown>) : { value: item };
}

function cell(value: unknown): string {
  if (value === undefined || value === null) return "";
  const text = typeof value === "object" ? JSON.stringify(value) : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function cellsOf(line: string): string[] {
  const cells: string[] = [];
  for (const [, quoted, plain] of line.trim().matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)) {
    cells.push(quoted === undefined ? (plain ?? "") : quoted.replaceAll('""', '"'));
  }
  return cells;
}
