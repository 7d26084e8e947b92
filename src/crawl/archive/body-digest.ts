/** SHA-1, by which archives name bodies. It holds against accidents, not against attackers. */

/** Loads it at the first use. One call hashes a body: an object for each small page would cost more than its bytes. */
export async function loadSha1(): Promise<(bytes: Uint8Array) => string> {
  const { hash } = await import("node:crypto");
  return (bytes) => hash("sha1", bytes, "hex");
}
