import { MemoryFile } from '../asr/memory-file.ts';
import { type WasmMemory, type WasmModule, wasm } from '../threads/web-assembly.ts';
import { descriptorCalls, fileCalls, processCalls, type Room, WasiExit } from './wasi-calls.ts';

/** Runs a WASI command to its end, in a memory of its own, and returns what it wrote to its one file. */
export function runWasiCommand(
  module: WasmModule,
  commandLine: readonly string[],
  maxBytes: number,
): Uint8Array {
  const file = new MemoryFile(maxBytes);
  const room: Room = {};
  const instance = new wasm.Instance(module, {
    wasi_snapshot_preview1: {
      ...processCalls(room, commandLine),
      ...descriptorCalls(room),
      ...fileCalls(room, file),
    },
  });
  room.memory = instance.exports.memory as WasmMemory;
  try {
    (instance.exports._start as () => void)();
  } catch (error) {
    if (!(error instanceof WasiExit) || error.code !== 0) throw error;
  }
  return file.contents();
}
