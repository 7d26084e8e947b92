/** The version of the kernel's ABI: raised whenever an export or a layout changes. */
export const KERNEL_VERSION = 1;
