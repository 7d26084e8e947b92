/** Joins a program with all that it imports, but for packages, into build/plain/<name>.js; returns its path. */
export function joinModules(program: string, name: string): Promise<string>;
