/** The texts of the scripts in a folder, by the names of their files. */
export function packLua(folder: string): Readonly<Record<string, string>>;
