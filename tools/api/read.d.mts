export interface Doc {
  text: string;
  defaultValue?: string;
  examples: string[];
}
export interface Property {
  name: string;
  type: string;
  isOptional: boolean;
  isGiven: boolean;
  doc: Doc;
}
export interface Method {
  name: string;
  signatures: string[];
  doc: Doc;
  options: Property[];
}
export interface Symbol {
  name: string;
  kind: string;
  code: string | undefined;
  doc: Doc;
  bases: string[];
  properties: Property[];
  methods: Method[];
  origin: string;
}
export interface Entry {
  name: string;
  doc: string;
  symbols: Symbol[];
}
/** Every entry of the package, with everything that it exports. */
export function readEntries(): Entry[];
/** What a reader would miss, a line each. */
export function problemsOf(entries: readonly Entry[]): string[];
