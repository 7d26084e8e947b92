/** All messages by the code or the place they belong to; `root`: another tree than this one. */
export function readMessages(root?: string): Map<string, string[]>;
