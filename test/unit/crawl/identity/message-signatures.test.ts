/** The examples of RFC 9421, and signatures that openssl verifies. */
import { createPublicKey, verify } from "node:crypto";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openKey } from "../../../../src/crawl/identity/ed25519.ts";
import { type IdentityFile, identityOf } from "../../../../src/crawl/identity/identity.ts";
import {
  authorityOf,
  type Covered,
  signatureBase,
  signatureHeaders,
} from "../../../../src/crawl/identity/message-signatures.ts";
import { skipUnless } from "../../../support/skip.ts";

/** test-key-ed25519 (B.1.4). */
const TEST_KEY = {
  ...({ kty: "OKP", crv: "Ed25519" } as const),
  d: "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU",
  x: "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs",
};
const FILE: IdentityFile = { agent: "https://bot.example", keys: [TEST_KEY] };
const AT_MS = 1_800_000_000_500;

describe("HTTP message signatures", () => {
  it("sign RFC 9421, B.2.6, as it is printed there", async () => {
    const covered: Covered[] = [
      ['"date"', "Tue, 20 Apr 2021 02:07:55 GMT"],
      ['"@method"', "POST"],
      ['"@path"', "/foo"],
      ['"@authority"', "example.com"],
      ['"content-type"', "application/json"],
      ['"content-length"', "18"],
    ];
    const params = [["created", 1618884473] as const, ["keyid", "test-key-ed25519"] as const];
    const { sign } = await openKey(TEST_KEY, "key");
    const names = `("date" "@method" "@path" "@authority" "content-type" "content-length")`;
    const written = `${names};created=1618884473;keyid="test-key-ed25519"`;
    expect(signatureBase(covered, params)).toBe(`"date": Tue, 20 Apr 2021 02:07:55 GMT
"@method": POST
"@path": /foo
"@authority": example.com
"content-type": application/json
"content-length": 18
"@signature-params": ${written}`);
    expect(signatureHeaders([{ label: "sig-b26", covered, params, sign }])).toEqual({
      "signature-input": `sig-b26=${written}`,
      signature:
        "sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu4A0w6vuQv5lIp5WPpBKRCw==:",
    });
  });

  it("name a key by its thumbprint, as RFC 8037, A.3, prints one", async () => {
    const key = {
      ...({ kty: "OKP", crv: "Ed25519" } as const),
      d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",
      x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    };
    expect((await openKey(key, "key")).id).toBe("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  });

  it.each([
    ["https://Example.COM/a", "example.com"],
    ["https://example.com:443/", "example.com"],
    ["http://example.com:8080/", "example.com:8080"],
    ["http://example.com:80", "example.com"],
  ])("the authority of %s is %s (2.2.3)", (url, authority) =>
    expect(authorityOf(url)).toBe(authority),
  );

  it("openssl verifies what an identity signs", async (context) => {
    let version = "";
    try {
      version = String(execFileSync("openssl", ["version"]));
    } catch {}
    skipUnless(context, version !== "", "openssl is not installed");
    const folder = mkdtempSync(join(tmpdir(), "outrider-identity-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const path = (name: string): string => join(folder, name);
    const headers = (await identityOf(FILE)).sign("https://site.example/a", AT_MS);
    const key = createPublicKey({ key: { ...TEST_KEY, d: undefined } as never, format: "jwk" });
    writeFileSync(path("key.pem"), key.export({ type: "spki", format: "pem" }));
    const input = (headers["signature-input"] ?? "").replace(/^sig1=/, "");
    const text = `"@authority": site.example\n"signature-agent";key="sig1": "https://bot.example"\n"@signature-params": ${input}`;
    const signature = Buffer.from(/:(.*):/.exec(headers.signature ?? "")?.[1] ?? "", "base64");
    const isVerified = (signed: string): boolean => {
      writeFileSync(path("text"), signed);
      writeFileSync(path("signature"), signature);
      const words = ["pkeyutl", "-verify", "-pubin", "-inkey", path("key.pem"), "-rawin"];
      try {
        const files = ["-in", path("text"), "-sigfile", path("signature")];
        execFileSync("openssl", [...words, ...files], { stdio: "pipe" });
        return true;
      } catch {
        return false;
      }
    };
    expect(isVerified(text)).toBe(true);
    expect(isVerified(text.replace("site.example", "other.example"))).toBe(false);
  });
});

describe("an identity", () => {
  it("covers the host and the agent, for five minutes, with a nonce of its own", async () => {
    const identity = await identityOf(FILE);
    const [one, two] = [1, 2].map(() => identity.sign("https://Site.example:8443/a?b", AT_MS));
    expect(one?.["signature-agent"]).toBe('sig1="https://bot.example"');
    const [, nonce = ""] = /nonce="([\w-]+)"/.exec(one?.["signature-input"] ?? "") ?? [];
    expect(Buffer.from(nonce, "base64url")).toHaveLength(64);
    expect(one?.["signature-input"]).toBe(
      `sig1=("@authority" "signature-agent";key="sig1");created=1800000000;expires=1800000300;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";nonce="${nonce}";tag="web-bot-auth"`,
    );
    expect(two?.["signature-input"]).not.toBe(one?.["signature-input"]);
    const unnamed = (await identityOf({ keys: [TEST_KEY] })).sign("https://a.example/", AT_MS);
    expect(Object.keys(unnamed)).toEqual(["signature-input", "signature"]);
    expect(unnamed["signature-input"]).toContain('sig1=("@authority");');
  });

  it("publishes its public keys, and each of them signs the directory", async () => {
    const keys = (await Promise.all([1, 2, 3].map(newKey))) as IdentityFile["keys"];
    const [old, next, used] = keys as [(typeof keys)[0], (typeof keys)[0], (typeof keys)[0]];
    const identity = await identityOf({
      agent: "https://bot.example/",
      keys: [
        { ...old, validUntil: "2026-12-01T00:00:00Z" },
        { ...used, validFrom: "2026-06-01T00:00:00Z" },
        { ...next, validFrom: "2027-03-01T00:00:00Z" },
      ],
    });
    const { path, headers, body } = identity.directory(AT_MS);
    expect(path).toBe("/.well-known/http-message-signatures-directory");
    expect(headers["content-type"]).toBe("application/http-message-signatures-directory+json");
    const jwks = (JSON.parse(body) as { keys: Array<Record<string, string>> }).keys;
    expect(jwks.map(({ x }) => x)).toEqual([used.x, next.x]);
    expect(body).not.toContain('"d"');
    const inputs = (headers["signature-input"] ?? "").split(", ");
    const values = (headers.signature ?? "").split(", ");
    jwks.forEach((jwk, index) => {
      const params = inputs[index]?.replace(/^sig\d=/, "") ?? "";
      expect(params).toMatch(/^\("@authority";req\);created=1800000000;expires=1800086400;/);
      expect(params).toContain(`keyid="${jwk.kid}"`);
      expect(params).toContain('tag="http-message-signatures-directory"');
      const text = `"@authority";req: bot.example\n"@signature-params": ${params}`;
      const signature = Buffer.from(/:(.*):/.exec(values[index] ?? "")?.[1] ?? "", "base64");
      const key = createPublicKey({ key: jwk, format: "jwk" });
      expect(verify(null, Buffer.from(text), key, signature)).toBe(true);
    });
    // The newest that is in force signs.
    const keyId = (atMs: number): string | undefined =>
      /keyid="([^"]+)"/.exec(
        identity.sign("https://a.example/", atMs)["signature-input"] ?? "",
      )?.[1];
    const ids = await Promise.all(
      [old, used, next].map(async (each) => (await openKey(each, "")).id),
    );
    expect([Date.UTC(2026, 0), AT_MS, Date.UTC(2027, 5)].map(keyId)).toEqual(ids);
  });

  it.each([
    [{}, "identity.keys"],
    [null, "identity.keys"],
    [{ keys: [] }, "identity.keys"],
    [{ keys: [{ ...TEST_KEY, d: undefined }] }, "identity.keys[0]"],
    [{ keys: [{ ...TEST_KEY, crv: "X25519" }] }, "identity.keys[0]"],
    [{ keys: [TEST_KEY, { ...TEST_KEY, x: `A${TEST_KEY.x.slice(1)}` }] }, "identity.keys[1]"],
    [{ keys: [{ ...TEST_KEY, validFrom: "soon" }] }, "identity.keys[0].validFrom"],
    [{ agent: "http://bot.example", keys: [TEST_KEY] }, "identity.agent"],
    [{ agent: "https://bot.example/keys", keys: [TEST_KEY] }, "identity.agent"],
  ])("refuses %#, by name and without its secret", async (file, name) => {
    const refused = await identityOf(file as never).catch((cause: unknown) => cause);
    expect(refused).toMatchObject({ code: "OPTION_INVALID" });
    expect(String(refused)).toContain(`${name}:`);
    expect(String(refused)).not.toContain(TEST_KEY.d);
  });

  it("has no signature where no key is in force, and no directory without a site", async () => {
    const over = { ...TEST_KEY, validUntil: "2020-01-01T00:00:00Z" };
    const { sign, directory } = await identityOf({ keys: [over] });
    const code = "STATE_INVALID";
    expect(() => sign("https://a.example/", AT_MS)).toThrowError(expect.objectContaining({ code }));
    expect(() => directory(AT_MS)).toThrowError(expect.objectContaining({ code }));
  });
});

async function newKey(): Promise<IdentityFile["keys"][number] | undefined> {
  const { withNewKey } = await import("../../../../src/crawl/identity/identity.ts");
  return (await withNewKey({ keys: [] })).keys[0];
}
