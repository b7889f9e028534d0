import type { MemoryFile } from '../asr/memory-file.ts';
import type { WasmMemory } from '../threads/web-assembly.ts';

/**
 * The few calls of WASI preview 1 that Flite makes, over memory alone: one file that it may write, no
 * input, one empty directory, and a clock that stands still.
 */

const OK = 0;
const BAD_DESCRIPTOR = 8;
const FILE_TYPE = { characterDevice: 2, directory: 3, regularFile: 4 } as const;
const ALL_RIGHTS = 0xffff_ffff_ffff_ffffn;
const DIRECTORY_FD = 3;
const FILE_FD = 4;

/** Thrown out of the command when it asks to end. */
export class WasiExit extends Error {
  readonly code: number;

  constructor(code: number) {
    super(`the command ended with code ${code}`);
    this.code = code;
  }
}

/** The memory of the command, which exists only once it has been instantiated, and may grow. */
export type Room = { memory?: WasmMemory };

const bytesOf = (room: Room) => new Uint8Array((room.memory as WasmMemory).buffer);
const viewOf = (room: Room) => new DataView((room.memory as WasmMemory).buffer);

/** Command line, clock and end. */
export function processCalls(room: Room, commandLine: readonly string[]) {
  const encoder = new TextEncoder();
  // A zero byte would end the word early.
  const words = commandLine.map((word) => encoder.encode(`${word.replaceAll('\0', ' ')}\0`));
  return {
    args_sizes_get(countAt: number, sizeAt: number) {
      const size = words.reduce((sum, word) => sum + word.length, 0);
      viewOf(room).setUint32(countAt, words.length, true);
      viewOf(room).setUint32(sizeAt, size, true);
      return OK;
    },
    args_get(pointersAt: number, textAt: number) {
      let at = textAt;
      for (const [index, word] of words.entries()) {
        viewOf(room).setUint32(pointersAt + index * 4, at, true);
        bytesOf(room).set(word, at);
        at += word.length;
      }
      return OK;
    },
    clock_time_get(_clock: number, _precision: bigint, at: number) {
      viewOf(room).setBigUint64(at, 0n, true);
      return OK;
    },
    proc_exit(code: number) {
      throw new WasiExit(code);
    },
  };
}

/** What stands behind the descriptors: three streams that lead nowhere, the directory, the file. */
export function descriptorCalls(room: Room) {
  return {
    fd_close: () => OK,
    fd_fdstat_set_flags: () => OK,
    fd_fdstat_get(fd: number, at: number) {
      const file = fd > DIRECTORY_FD ? FILE_TYPE.regularFile : FILE_TYPE.directory;
      viewOf(room).setUint8(at, fd < DIRECTORY_FD ? FILE_TYPE.characterDevice : file);
      viewOf(room).setUint16(at + 2, 0, true);
      viewOf(room).setBigUint64(at + 8, ALL_RIGHTS, true);
      viewOf(room).setBigUint64(at + 16, ALL_RIGHTS, true);
      return OK;
    },
    fd_prestat_get(fd: number, at: number) {
      if (fd !== DIRECTORY_FD) return BAD_DESCRIPTOR;
      viewOf(room).setUint8(at, 0);
      viewOf(room).setUint32(at + 4, 1, true);
      return OK;
    },
    fd_prestat_dir_name(_fd: number, at: number) {
      bytesOf(room)[at] = '.'.charCodeAt(0);
      return OK;
    },
  };
}

/** Reading and writing. What the command prints is dropped. */
export function fileCalls(room: Room, file: MemoryFile) {
  return {
    path_open(...operands: number[]) {
      viewOf(room).setUint32(operands[8] as number, FILE_FD, true);
      return OK;
    },
    fd_read(_fd: number, _vectors: number, _count: number, readAt: number) {
      viewOf(room).setUint32(readAt, 0, true);
      return OK;
    },
    fd_seek(fd: number, offset: bigint, whence: number, at: number) {
      if (fd !== FILE_FD) return BAD_DESCRIPTOR;
      viewOf(room).setBigUint64(at, BigInt(file.seek(Number(offset), whence)), true);
      return OK;
    },
    fd_write(fd: number, vectors: number, count: number, writtenAt: number) {
      const view = viewOf(room);
      let written = 0;
      for (let i = 0; i < count; i++) {
        const start = view.getUint32(vectors + i * 8, true);
        const length = view.getUint32(vectors + i * 8 + 4, true);
        if (fd === FILE_FD) file.write(bytesOf(room).subarray(start, start + length));
        written += length;
      }
      view.setUint32(writtenAt, written, true);
      return OK;
    },
  };
}
