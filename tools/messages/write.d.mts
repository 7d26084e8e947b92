/** The page of all messages. */
export function pageOf(messages: Map<string, string[]>): string;
