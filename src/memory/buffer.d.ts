/** The methods of Buffer for one encoding each, which skip the dispatch on its name. Node has them, @types/node does not. */
declare global {
  interface Buffer {
    latin1Write(text: string, offset?: number, length?: number): number;
    latin1Slice(start?: number, end?: number): string;
    utf8Write(text: string, offset?: number, length?: number): number;
    utf8Slice(start?: number, end?: number): string;
    hexWrite(text: string, offset?: number, length?: number): number;
    hexSlice(start?: number, end?: number): string;
  }
}
export {};
