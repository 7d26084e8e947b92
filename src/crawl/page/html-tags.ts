/**
 * Tags and text of a document, flat: open elements are not tracked, so that a hundred thousand unclosed elements cost no more
 * than as many closed ones.
 *
 *   text in slices ─▶ htmlparser2's tokenizer ─▶ open(name, attributes) · text(…) · close(name)
 *
 *   I1  Linear in the document, whatever its nesting.
 *   I2  Other work gets its turn between two slices.
 */
import { Tokenizer, type TokenizerCallbacks } from "htmlparser2";

export type Attributes = Readonly<Record<string, string | undefined>>;

export interface TagSink {
  /** Whether the attributes of such elements are wanted; others are skipped. */
  wants(name: string): boolean;
  open(name: string, attributes: Attributes): void;
  close(name: string): void;
  /** `read` returns the text, for sinks that need more than its length. */
  text(length: number, read: () => string): void;
}

/** Letters between two turns of the event loop: some ten milliseconds. */
const SLICE_LETTERS = 512 * 1024;
const NONE: Attributes = Object.freeze({});

export async function readTags(text: string, sink: TagSink, isXml = false): Promise<void> {
  const tokenizer = new Tokenizer(
    { xmlMode: isXml, decodeEntities: true },
    callbacksOf(text, sink),
  );
  for (let at = 0; at < text.length; at += SLICE_LETTERS) {
    if (at > 0) await new Promise((resolve) => setImmediate(resolve));
    tokenizer.write(
      at === 0 && text.length <= SLICE_LETTERS ? text : text.slice(at, at + SLICE_LETTERS),
    );
  }
  tokenizer.end();
}

function callbacksOf(text: string, sink: TagSink): TokenizerCallbacks {
  let name = "";
  let isWanted = false;
  let attributes: Record<string, string> = {};
  let attribute = "";
  let value = "";
  const opened = (): void => {
    sink.open(name, isWanted ? attributes : NONE);
    if (isWanted) attributes = {};
  };
  return {
    onopentagname(start, end) {
      name = text.slice(start, end).toLowerCase();
      isWanted = sink.wants(name);
    },
    onattribname(start, end) {
      value = "";
      if (isWanted) attribute = text.slice(start, end).toLowerCase();
    },
    onattribdata(start, end) {
      if (isWanted) value += text.slice(start, end);
    },
    onattribentity(codePoint) {
      if (isWanted) value += String.fromCodePoint(codePoint);
    },
    onattribend() {
      // The first attribute of a name counts; "__proto__" is a name like any other.
      if (isWanted && !Object.hasOwn(attributes, attribute)) {
        Object.defineProperty(attributes, attribute, { value, enumerable: true });
      }
    },
    onopentagend: opened,
    onselfclosingtag() {
      opened();
      sink.close(name);
    },
    onclosetag: (start, end) => sink.close(text.slice(start, end).toLowerCase()),
    ontext: (start, end) => sink.text(end - start, () => text.slice(start, end)),
    ontextentity: (codePoint) => sink.text(1, () => String.fromCodePoint(codePoint)),
    oncdata: (start, end, endOffset) => {
      const to = end - endOffset;
      sink.text(to - start, () => text.slice(start, to));
    },
    oncomment: () => {},
    ondeclaration: () => {},
    onprocessinginstruction: () => {},
    onend: () => {},
  };
}
