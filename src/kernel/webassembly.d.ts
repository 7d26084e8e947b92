/** The part of WebAssembly that this room uses: neither @types/node nor the ES libraries declare it. */
declare namespace WebAssembly {
  class Module {
    private readonly brand: "module";
    constructor(bytes: Uint8Array);
  }
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number });
    readonly buffer: ArrayBuffer;
    grow(pages: number): number;
  }
  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }
}
