import { KERNEL_VERSION } from "../src/layout/calls/kernel-version";

/** Checked by the door on every instantiation: a kernel file of another build is refused. */
export function kernelVersion(): i32 {
  return KERNEL_VERSION;
}
