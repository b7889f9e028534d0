/** The part of WebAssembly's types that is used here: Node's types leave them to the browser's. */
export type WasmModule = { readonly kind?: 'module' };

type Api = {
  compile(bytes: Uint8Array): Promise<WasmModule>;
  readonly Instance: new (
    module: WasmModule,
    imports: Readonly<Record<string, object>>,
  ) => { readonly exports: Readonly<Record<string, unknown>> };
};

export const wasm = (globalThis as unknown as { readonly WebAssembly: Api }).WebAssembly;

/**
 * Returns true when an engine broke while it worked: a trap, its own stack or memory at an end, or an abort, which the
 * compilers throw as something that is no Error. Its memory is then in no known state, and no caller is at fault.
 */
export const isTrap = (thrown: unknown): boolean =>
  !(thrown instanceof Error) || thrown.name === 'RuntimeError' || thrown instanceof RangeError;
