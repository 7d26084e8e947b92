/** The id that Crawlee makes of a unique key, in its storages and in its service: it must be the same here. */
import { hash, randomUUID } from "node:crypto";

const ID_LENGTH = 15;
/** Most keys: nothing is left out. */
const PLAIN = /^[A-Za-z\d]+$/;

/** The first fifteen letters and digits of the key's SHA-256 in base64. */
export function requestId(uniqueKey: string): string {
  const text = hash("sha256", uniqueKey, "base64");
  const head = text.slice(0, ID_LENGTH);
  return PLAIN.test(head) ? head : text.replace(/[+/=]/g, "").slice(0, ID_LENGTH);
}

/** An id for a queue without a name. */
export function newId(): string {
  return randomUUID();
}
