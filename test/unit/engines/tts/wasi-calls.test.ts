import { describe, expect, it } from 'vitest';
import { MemoryFile } from '../../../../src/engines/asr/memory-file.ts';
import {
  descriptorCalls,
  fileCalls,
  processCalls,
  WasiExit,
} from '../../../../src/engines/tts/wasi-calls.ts';

const world = () => ({ memory: { buffer: new ArrayBuffer(1_024) } });
const BAD_DESCRIPTOR = 8;

describe('wasi calls', () => {
  it('hands over the command line, a zero byte within a word made harmless', () => {
    const room = world();
    const calls = processCalls(room, ['flite', 'a\0b']);
    calls.args_sizes_get(0, 4);
    const view = new DataView(room.memory.buffer);
    expect([view.getUint32(0, true), view.getUint32(4, true)]).toEqual([2, 10]);
    calls.args_get(8, 100);
    const text = new TextDecoder().decode(new Uint8Array(room.memory.buffer, 100, 10));
    expect(text).toBe('flite\0a b\0');
    expect(view.getUint32(12, true)).toBe(106);
  });

  it('writes to its one file and drops what is printed', () => {
    const room = world();
    const file = new MemoryFile(100);
    const calls = fileCalls(room, file);
    new Uint8Array(room.memory.buffer).set([7, 8, 9], 200);
    const view = new DataView(room.memory.buffer);
    view.setUint32(0, 200, true);
    view.setUint32(4, 3, true);
    calls.fd_write(1, 0, 1, 300);
    calls.fd_write(4, 0, 1, 300);
    expect(view.getUint32(300, true)).toBe(3);
    expect([...file.contents()]).toEqual([7, 8, 9]);
    expect(calls.fd_seek(1, 0n, 0, 300)).toBe(BAD_DESCRIPTOR);
  });

  it('knows one directory, and ends by an exit that carries its code', () => {
    const room = world();
    expect(descriptorCalls(room).fd_prestat_get(4, 0)).toBe(BAD_DESCRIPTOR);
    expect(descriptorCalls(room).fd_prestat_get(3, 0)).toBe(0);
    expect(() => processCalls(room, []).proc_exit(2)).toThrow(WasiExit);
  });
});
