/** Certificates for servers of tests, made by openssl where there is one. */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A key and a certificate that vouches for itself; undefined: there is no openssl. */
export function certificateOf(name: string): { key: string; cert: string } | undefined {
  const folder = mkdtempSync(join(tmpdir(), "outrider-certificate-"));
  try {
    const key = join(folder, "key.pem");
    const cert = join(folder, "cert.pem");
    const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    const names = ["-subj", `/CN=${name}`, "-addext", `subjectAltName=DNS:${name}`];
    const { status } = spawnSync(
      "openssl",
      ["req", "-x509", ...curve, "-days", "2", "-keyout", key, "-out", cert, ...names],
      { stdio: "ignore" },
    );
    if (status !== 0) return undefined;
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
