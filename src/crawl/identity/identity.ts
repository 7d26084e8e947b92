/**
 * Room `src/crawl/identity`: proof of who a crawler is: keys, what they sign, and the directory in which servers find them. Decides what
 * is signed and by which key; sends nothing.
 */

/**
 * Web Bot Auth: a signature on every request, by a key that the crawler's own site publishes.
 *
 *   RFC 9421                                          HTTP Message Signatures, Ed25519
 *   draft-meunier-webbotauth-httpsig-protocol-00      what is signed: @authority and Signature-Agent, tag "web-bot-auth"
 *   draft-meunier-webbotauth-httpsig-directory-00     /.well-known/http-message-signatures-directory, signed by each of its keys
 *
 *   I1  A signature covers the host that is asked, and holds for EXPIRY_SECONDS: a request that is redirected is signed anew, and what one
 *       site received is of no use at another.
 *   I2  A nonce is of NONCE_WORDS × 32 random bits; no two requests have the same.
 *   I3  Of the keys in force the newest signs; all that are not over are published. So a new key is known before it is used.
 *   I4  Private halves appear in no message, no error and no directory.
 */
import { dateMs, timeText } from "../../base/clock.ts";
import { misuse } from "../../base/errors.ts";
import { entropyWords } from "../../base/random.ts";
import { readText } from "../files.ts";
import { newPrivateJwk, openKey, type PrivateJwk, type SigningKey } from "./ed25519.ts";
import {
  authorityOf,
  type Covered,
  quoted,
  type SignatureParams,
  signatureHeaders,
} from "./message-signatures.ts";

/** A key of an identity file. */
export interface IdentityKey extends PrivateJwk {
  /** It signs from then on, RFC 3339. Always, where it is missing. */
  readonly validFrom?: string;
  /** It signs until then, and is published no longer. */
  readonly validUntil?: string;
}

/** An identity file: JSON, to be kept secret. */
export interface IdentityFile {
  /** The site that publishes the directory, `https://…`; sent as Signature-Agent. */
  readonly agent?: string;
  /** Keys, the newest last. */
  readonly keys: readonly IdentityKey[];
}

/** A key directory as its site has to answer it. */
export interface KeyDirectory {
  /** Where it is asked for. */
  readonly path: string;
  /** Headers of the answer, its signatures among them; they hold for a day. */
  readonly headers: Readonly<Record<string, string>>;
  /** The public keys. */
  readonly body: string;
}

/** Who a crawler is. */
export interface Identity {
  /** The site that publishes the directory; undefined: none is named. */
  readonly agent: string | undefined;
  /** Headers that prove a request for a URL. Throws `STATE_INVALID` where no key is in force then. */
  sign(url: string, atMs: number): Record<string, string>;
  /** The directory for the site `agent`. Throws `STATE_INVALID` without one. */
  directory(atMs: number): KeyDirectory;
}

const DIRECTORY_PATH = "/.well-known/http-message-signatures-directory";
const DIRECTORY_TYPE = "application/http-message-signatures-directory+json";
const REQUEST_TAG = "web-bot-auth";
const DIRECTORY_TAG = "http-message-signatures-directory";
const LABEL = "sig1";
/** Longer than a request waits in a queue of its connection, short for who would use it again. */
const EXPIRY_SECONDS = 300;
/** What serves a directory asks for it anew once a day. */
const DIRECTORY_SECONDS = 86_400;
/** 64 bytes, as the draft asks. */
const NONCE_WORDS = 16;

interface DatedKey extends SigningKey {
  readonly fromMs: number;
  readonly untilMs: number;
}

/**
 * Reads an identity file. Costs a millisecond, each signature a tenth of one. Rejects with `OPTION_INVALID` for another kind of file.
 *
 * @example
 * const identity = await openIdentity("identity.json");
 * identity.sign("https://example.org/", Date.now()); // { 'signature-agent': …, 'signature-input': …, signature: … }
 */
export async function openIdentity(path: string): Promise<Identity> {
  let given: unknown;
  try {
    given = JSON.parse(readText(path));
  } catch {
    throw misuse("OPTION_INVALID", "identity", path, "a file with { agent, keys } as JSON");
  }
  return identityOf(given as IdentityFile);
}

/**
 * Checks an identity file's content and opens its keys. Costs less than a millisecond a key. Rejects with `OPTION_INVALID`.
 *
 * @example
 * const { keys } = await withNewKey({ keys: [] });
 * const identity = await identityOf({ agent: "https://bot.example.org", keys });
 */
export async function identityOf(given: IdentityFile): Promise<Identity> {
  const agent = agentOf(given?.agent);
  const list = (given as { keys?: unknown } | null)?.keys;
  if (!Array.isArray(list) || list.length === 0)
    throw misuse("OPTION_INVALID", "identity.keys", typeof list, "a list of keys");
  const keys: DatedKey[] = [];
  for (const [index, each] of (list as IdentityKey[]).entries()) {
    const name = `identity.keys[${index}]`;
    const key = await openKey(each, name);
    const fromMs = timeOf(each.validFrom, `${name}.validFrom`) ?? Number.NEGATIVE_INFINITY;
    const untilMs = timeOf(each.validUntil, `${name}.validUntil`) ?? Number.POSITIVE_INFINITY;
    keys.push({ ...key, fromMs, untilMs });
  }
  return {
    agent,
    sign(url, atMs) {
      const key = keys.findLast(({ fromMs, untilMs }) => fromMs <= atMs && atMs < untilMs);
      if (key === undefined)
        throw misuse("STATE_INVALID", "identity", timeText(atMs), "a key in force");
      const named = agent === undefined ? undefined : quoted(agent);
      const covered: Covered[] = [['"@authority"', authorityOf(url)]];
      if (named !== undefined) covered.push([`"signature-agent";key="${LABEL}"`, named]);
      const params = paramsOf(key, { atMs, seconds: EXPIRY_SECONDS, tag: REQUEST_TAG });
      return {
        ...(named === undefined ? {} : { "signature-agent": `${LABEL}=${named}` }),
        ...signatureHeaders([{ label: LABEL, covered, params, sign: key.sign }]),
      };
    },
    directory(atMs) {
      if (agent === undefined) throw misuse("STATE_INVALID", "identity.agent", agent, "a site");
      const published = keys.filter(({ untilMs }) => atMs < untilMs);
      const covered: Covered[] = [['"@authority";req', authorityOf(agent)]];
      const span = { atMs, seconds: DIRECTORY_SECONDS, tag: DIRECTORY_TAG };
      const signatures = published.map((key, index) => ({
        ...{ label: `sig${index + 1}`, covered, params: paramsOf(key, span) },
        sign: key.sign,
      }));
      const jwks = published.map(({ id, x }) => ({
        ...{ kid: id, kty: "OKP", crv: "Ed25519", x, use: "sig" },
      }));
      return {
        path: DIRECTORY_PATH,
        headers: { "content-type": DIRECTORY_TYPE, ...signatureHeaders(signatures) },
        body: JSON.stringify({ keys: jwks }),
      };
    },
  };
}

/**
 * An identity file with one key more, which signs from a time on: milliseconds since 1970, or a date as RFC 3339 writes it. Costs
 * less than a millisecond a key. Rejects with `OPTION_INVALID`.
 *
 * @example
 * const file = await withNewKey({ keys: [] }, { agent: "https://bot.example.org" });
 */
export async function withNewKey(
  before: IdentityFile,
  change: {
    /**
     * The site that publishes the directory.
     * @defaultValue the one before
     */
    agent?: string | undefined;
    /**
     * When the key begins to sign.
     * @defaultValue always
     */
    validFrom?: string | number | undefined;
  } = {},
): Promise<IdentityFile> {
  const { validFrom } = change;
  const agent = agentOf(change.agent ?? before.agent);
  const from = typeof validFrom === "number" ? timeText(validFrom) : validFrom;
  const key = { ...(await newPrivateJwk()), ...(from === undefined ? {} : { validFrom: from }) };
  const file = { ...(agent === undefined ? {} : { agent }), keys: [...(before.keys ?? []), key] };
  await identityOf(file);
  return file;
}

interface Span {
  readonly atMs: number;
  readonly seconds: number;
  readonly tag: string;
}

function paramsOf(key: SigningKey, { atMs, seconds, tag }: Span): SignatureParams {
  const created = Math.floor(atMs / 1_000);
  const nonce = Buffer.from(entropyWords(NONCE_WORDS).buffer).toString("base64url");
  return [
    ["created", created],
    ["expires", created + seconds],
    ["keyid", key.id],
    ["alg", "ed25519"],
    ["nonce", nonce],
    ["tag", tag],
  ];
}

function agentOf(given: unknown): string | undefined {
  if (given === undefined) return undefined;
  const isSite = typeof given === "string" && URL.canParse(given);
  const { protocol, origin, href } = isSite ? new URL(given) : new URL("none:");
  if (protocol !== "https:" || (href !== origin && href !== `${origin}/`))
    throw misuse(
      "OPTION_INVALID",
      "identity.agent",
      given,
      "a site such as https://bot.example.org",
    );
  return origin;
}

function timeOf(text: unknown, name: string): number | undefined {
  if (text === undefined) return undefined;
  const ms = typeof text === "string" ? dateMs(text) : Number.NaN;
  if (Number.isNaN(ms)) throw misuse("OPTION_INVALID", name, text, "a date as RFC 3339 writes it");
  return ms;
}
