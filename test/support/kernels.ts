/** Kernels for tests: each flavour over a region of its own. */
import { readFileSync } from "node:fs";
import { compileKernel, createKernel, type Kernel } from "../../src/kernel/kernel.ts";

const FILES = {
  release: "kernel.wasm",
  debug: "kernel.debug.wasm",
} as const;

export type TestFlavour = keyof typeof FILES;

export function openTestKernel(flavour: TestFlavour = "release", pageCountMax?: number): Kernel {
  const path = new URL(`../../build/plain/${FILES[flavour]}`, import.meta.url);
  const module = compileKernel(readFileSync(path));
  return createKernel(module, pageCountMax === undefined ? {} : { pageCountMax });
}
