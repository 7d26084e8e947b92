/**
 * Reads and compiles the kernel's file, once per process and flavour. The package ships the release flavour alone.
 */
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { FrontierError } from "../base/errors.ts";
import { packageFile } from "../base/package-files.ts";
import { compileKernel, type KernelModule } from "../kernel/kernel.ts";

export type KernelFlavour = "release" | "debug";

const FILES: Record<KernelFlavour, string> = {
  release: "kernel.wasm",
  debug: "kernel.debug.wasm",
};

const compiled = new Map<KernelFlavour, KernelModule>();

export function loadKernelModule(flavour: KernelFlavour = "release"): KernelModule {
  let module = compiled.get(flavour);
  if (module === undefined) {
    module = compileKernel(bytesOf(fileURLToPath(packageFile(FILES[flavour]))));
    compiled.set(flavour, module);
  }
  return module;
}

function bytesOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== "ENOENT") throw cause;
    const expected = "a file of the package: install it again, or `npm run build` in its sources";
    const message = `${path}: missing (expected: ${expected})`;
    throw new FrontierError("KERNEL_MISSING", message, { path, cause });
  }
}
