/**
 * HTTP Message Signatures, RFC 9421: the signed components, and the two headers that carry the signature.
 *
 *   "@authority": example.com
 *   "signature-agent";key="sig1": "https://bot.example"
 *   "@signature-params": ("@authority" "signature-agent";key="sig1");created=…;keyid="…";…
 */

/** What a signature covers: the component's identifier as it is written, and its value. */
export type Covered = readonly [identifier: string, value: string];

/** Parameters in the order in which they are written; numbers are written bare. */
export type SignatureParams = ReadonlyArray<readonly [name: string, value: string | number]>;

/** The value of `@signature-params`, and of Signature-Input behind its label (RFC 9421, 2.3). */
export function paramsText(covered: readonly Covered[], params: SignatureParams): string {
  const identifiers = covered.map(([identifier]) => identifier).join(" ");
  const rest = params.map(([name, value]) =>
    typeof value === "number" ? `;${name}=${value}` : `;${name}=${quoted(value)}`,
  );
  return `(${identifiers})${rest.join("")}`;
}

/** The text that is signed (RFC 9421, 2.5). */
export function signatureBase(covered: readonly Covered[], params: SignatureParams): string {
  const lines = covered.map(([identifier, value]) => `${identifier}: ${value}`);
  return [...lines, `"@signature-params": ${paramsText(covered, params)}`].join("\n");
}

export interface LabelledSignature {
  readonly label: string;
  readonly covered: readonly Covered[];
  readonly params: SignatureParams;
  readonly sign: (text: string) => Uint8Array;
}

/** Signature-Input and Signature of one message, a member for each signature. */
export function signatureHeaders(signatures: readonly LabelledSignature[]) {
  const inputs = signatures.map(
    ({ label, covered, params }) => `${label}=${paramsText(covered, params)}`,
  );
  const values = signatures.map(({ label, covered, params, sign }) => {
    const bytes = sign(signatureBase(covered, params));
    return `${label}=:${Buffer.from(bytes).toString("base64")}:`;
  });
  return { "signature-input": inputs.join(", "), signature: values.join(", ") };
}

/** A string of RFC 8941, 3.3.3. */
export function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}

/** Host and port as a signature has them: in lower case, without the scheme's own port (RFC 9421, 2.2.3). */
export function authorityOf(url: string): string {
  return new URL(url).host;
}
