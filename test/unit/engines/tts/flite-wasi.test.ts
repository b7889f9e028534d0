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
  it('gives what it wrote to its file, the same to the same', () => {
    const wav = speak('Hello.');
    expect(Buffer.from(wav).toString('latin1', 0, 4)).toBe('RIFF');
    // The header is filled in at the end, over the file's own beginning.
    expect(new DataView(wav.buffer, wav.byteOffset).getUint32(4, true)).toBe(wav.length - 8);
    expect(Buffer.from(speak('Hello.')).equals(wav)).toBe(true);
  });

  it('is given a zero byte within a word as a space', () => {
    expect(Buffer.from(speak('one\0two')).equals(speak('one two'))).toBe(true);
  });

  it('ends at the bound of its file, as a trap', () => {
    expect(() => speak('Hello.', 1_000)).toThrow(RangeError);
  });

  it('that fails throws its code', () => {
    const line = ['flite', '--version'];
    expect(() => runWasiCommand(flite, { line, fileName }, 1_000)).toThrow('ended with code 1');
  });
});
