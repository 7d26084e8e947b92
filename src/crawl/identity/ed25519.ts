/** Keys of Ed25519 as JWK (RFC 8037), signatures of them, and their names (RFC 7638). The platform's crypto, loaded at the first use. */
import { misuse } from "../../base/errors.ts";

/** A private key as JWK. */
export interface PrivateJwk {
  /** Kind of key. */
  readonly kty: "OKP";
  /** Its curve. */
  readonly crv: "Ed25519";
  /** The public half, base64url. */
  readonly x: string;
  /** The private half, base64url. */
  readonly d: string;
}

export interface SigningKey {
  /** Thumbprint of the public half, by which a signature names it. */
  readonly id: string;
  readonly x: string;
  sign(text: string): Uint8Array;
}

/** Makes a random key. */
export async function newPrivateJwk(): Promise<PrivateJwk> {
  const { generateKeyPairSync } = await import("node:crypto");
  const { x = "", d = "" } = generateKeyPairSync("ed25519").privateKey.export({ format: "jwk" });
  return { kty: "OKP", crv: "Ed25519", x, d };
}

/** Throws `OPTION_INVALID` for what is no such key, or whose halves are not of one. The value is never named. */
export async function openKey(given: unknown, name: string): Promise<SigningKey> {
  const { createHash, createPrivateKey, createPublicKey, sign } = await import("node:crypto");
  const { kty, crv, x, d } = (given ?? {}) as Partial<PrivateJwk>;
  const refused = (): Error => misuse("OPTION_INVALID", name, "…", "a private Ed25519 key as JWK");
  if (kty !== "OKP" || crv !== "Ed25519" || typeof x !== "string" || typeof d !== "string")
    throw refused();
  const jwk = { kty, crv, x, d };
  let key: ReturnType<typeof createPrivateKey>;
  try {
    key = createPrivateKey({ key: jwk, format: "jwk" });
  } catch {
    throw refused();
  }
  if (createPublicKey(key as never).export({ format: "jwk" }).x !== x) throw refused();
  const canonical = JSON.stringify({ crv, kty, x });
  const id = createHash("sha256").update(canonical).digest("base64url");
  return { id, x, sign: (text) => sign(null, Buffer.from(text), key) };
}
