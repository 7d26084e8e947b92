/** SHA-1, only where another program's names for requests are made of it. It protects nothing. */
import { hash } from "node:crypto";

/** The 20 bytes of a SHA-1. */
export function sha1(text: string | Uint8Array): Buffer {
  return hash("sha1", text, "buffer");
}
