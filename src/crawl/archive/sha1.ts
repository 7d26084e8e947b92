/** SHA-1, by which archives name bodies. It holds against accidents, not against attackers. Loaded at the first use. */

export async function sha1Of(bytes: Uint8Array): Promise<Uint8Array> {
  const { createHash } = await import("node:crypto");
  return createHash("sha1").update(bytes).digest();
}
