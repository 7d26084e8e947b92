/**
 * Certificates for servers of tests, written here byte by byte (DER, RFC 5280). Node can sign, but has no call that makes a certificate,
 * and a bare machine may lack openssl.
 */
import { generateKeyPairSync, randomBytes, sign } from "node:crypto";

/** Tags of DER values. */
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const UTC_TIME = 0x17;
const SEQUENCE = 0x30;
const SET = 0x31;
const EXPLICIT_0 = 0xa0;
const EXPLICIT_3 = 0xa3;
/** A DNS name among a certificate's alternative names. */
const DNS_NAME = 0x82;

/** Object identifiers in their encoded form. */
const ECDSA_WITH_SHA256 = "2a8648ce3d040302";
const COMMON_NAME = "550403";
const SUBJECT_ALT_NAME = "551d11";
const BASIC_CONSTRAINTS = "551d13";

const DAY_MS = 86_400_000;

/** A value with its tag and its length before it. */
function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  const { length } = body;
  // A length below 128 is one byte; a longer one follows the count of its bytes.
  const head =
    length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), body]);
}

const objectId = (hex: string): Buffer => der(OBJECT_ID, Buffer.from(hex, "hex"));

function time(ms: number): Buffer {
  const text = new Date(ms).toISOString().replaceAll(/[-:T]|\.\d+/g, "");
  return der(UTC_TIME, Buffer.from(text.slice(2)));
}

/** A key, and a certificate signed by it, valid for `name` from yesterday to tomorrow. */
export function certificateOf(name: string): { key: string; cert: string } {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "prime256v1" });
  const algorithm = der(SEQUENCE, objectId(ECDSA_WITH_SHA256));
  const commonName = der(SEQUENCE, objectId(COMMON_NAME), der(UTF8_STRING, Buffer.from(name)));
  const subject = der(SEQUENCE, der(SET, commonName));
  const names = der(SEQUENCE, der(DNS_NAME, Buffer.from(name)));
  const isAuthority = der(SEQUENCE, Buffer.from([0x01, 0x01, 0xff]));
  const extensions = der(
    SEQUENCE,
    der(SEQUENCE, objectId(SUBJECT_ALT_NAME), der(OCTET_STRING, names)),
    der(SEQUENCE, objectId(BASIC_CONSTRAINTS), der(OCTET_STRING, isAuthority)),
  );
  const now = Date.now();
  const body = der(
    SEQUENCE,
    der(EXPLICIT_0, der(INTEGER, Buffer.from([2]))), // version 3
    der(INTEGER, Buffer.from([1]), randomBytes(8)), // the first byte keeps the number positive
    algorithm,
    subject, // issuer: itself
    der(SEQUENCE, time(now - DAY_MS), time(now + DAY_MS)),
    subject,
    publicKey.export({ type: "spki", format: "der" }),
    der(EXPLICIT_3, extensions),
  );
  const signature = der(BIT_STRING, Buffer.from([0]), sign("sha256", body, privateKey));
  const base64 = der(SEQUENCE, body, algorithm, signature).toString("base64");
  const lines = base64.match(/.{1,64}/g) as string[];
  return {
    key: privateKey.export({ type: "pkcs8", format: "pem" }) as string,
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join("\n")}\n-----END CERTIFICATE-----\n`,
  };
}
