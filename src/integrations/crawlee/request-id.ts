/** The id that Crawlee makes of a unique key, in its storages and in its service: it must be the same here. */
import { hash, randomUUID } from "node:crypto";

/** The first fifteen letters and digits of the key's SHA-256 in base64. */
export function requestId(uniqueKey: string): string {
  return hash("sha256", uniqueKey, "base64").replace(/[+/=]/g, "").slice(0, 15);
}

/** An id for a queue without a name. */
export function newId(): string {
  return randomUUID();
}
