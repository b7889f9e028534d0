import compile from 'watr/compile';

/** Types of the WebAssembly functions used here. Node's types leave them to the browser's type library. */
type Api<Exports> = {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: Exports };
};

/** Assembles a WebAssembly text module without imports, and instantiates it. */
export function startWasm<Exports>(text: string): Exports {
  const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Api<Exports> };
  return new WebAssembly.Instance(new WebAssembly.Module(compile(text))).exports;
}
