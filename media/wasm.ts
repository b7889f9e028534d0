import compile from 'watr/compile';

/** The part of WebAssembly that is used here; the types of Node leave it to the browser's. */
type Api<Exports> = {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Exports };
};

/** Assembles a module of WebAssembly text that imports nothing, and starts it. */
export function startWasm<Exports>(text: string): Exports {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Api<Exports> };
  return new WebAssembly.Instance(new WebAssembly.Module(compile(text))).exports;
}
