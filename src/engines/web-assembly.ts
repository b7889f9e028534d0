/** The part of WebAssembly that is used here; the types of Node leave it to the browser's. */
export type WasmModule = { readonly kind?: 'module' };
export type WasmMemory = { readonly buffer: ArrayBuffer };

type Api = {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  readonly Instance: new (
    module: WasmModule,
    imports: Readonly<Record<string, object>>,
  ) => { readonly exports: Readonly<Record<string, unknown>> };
};

export const wasm = (globalThis as unknown as { readonly WebAssembly: Api }).WebAssembly;
