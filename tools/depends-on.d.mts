/** Whether a module of test/ imports another, itself or by way of others. */
export function dependsOn(module: string, file: string): boolean;
