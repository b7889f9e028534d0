import { ConsoleStdout, File, OpenFile, PreopenDirectory, WASI } from '@bjorn3/browser_wasi_shim';
import { type WasmModule, wasm } from '../threads/web-assembly.ts';

/** Runs a WASI command to its end, in a memory of its own, and returns the contents of the file `fileName`. */
export function runWasiCommand(
  module: WasmModule,
  command: { readonly line: readonly string[]; readonly fileName: string },
  maxBytes: number,
): Uint8Array {
  // A zero byte would end the command's argument early.
  const line = command.line.map((word) => word.replaceAll('\0', ' '));
  const file = new BoundedFile(maxBytes);
  const directory = new PreopenDirectory('.', new Map([[command.fileName, file]]));
  const nowhere = new ConsoleStdout(() => {});
  const descriptors = [new OpenFile(new File([])), nowhere, nowhere, directory];
  const wasi = new WASI(line, [], descriptors, { debug: false });
  const instance = new wasm.Instance(module, { wasi_snapshot_preview1: wasi.wasiImport });
  const code = wasi.start(instance as Parameters<WASI['start']>[0]);
  if (code !== 0) throw new Error(`the command ended with code ${code}`);
  return file.data;
}

/** A file in memory. Writing beyond `maxBytes` throws. */
class BoundedFile extends File {
  readonly #maxBytes: number;

  constructor(maxBytes: number) {
    super([]);
    this.#maxBytes = maxBytes;
  }

  override path_open() {
    return { ret: 0, fd_obj: new OpenBoundedFile(this, this.#maxBytes) };
  }
}

class OpenBoundedFile extends OpenFile {
  readonly #maxBytes: number;

  constructor(file: File, maxBytes: number) {
    super(file);
    this.#maxBytes = maxBytes;
  }

  override fd_write(data: Uint8Array) {
    if (Number(this.file_pos) + data.length > this.#maxBytes) {
      throw new RangeError('the file is longer than its bound');
    }
    return super.fd_write(data);
  }
}
