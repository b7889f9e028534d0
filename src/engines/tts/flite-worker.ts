import { readFile } from 'node:fs/promises';
import { parseWav, wavSamples } from '../../../media/wav.ts';
import { wasm } from '../threads/web-assembly.ts';
import { serveWorker, workerOptions } from '../threads/worker-host.ts';
import { runWasiCommand } from './flite-wasi.ts';

export type FliteOptions = { readonly wasm: string };

export type FliteContract = {
  readonly speak: {
    readonly in: { readonly text: string; readonly voice: string; readonly stretch: number };
    readonly out: { readonly pcm: Int16Array; readonly sampleRateHz: number };
  };
};

/**
 * Upper bound of a WAV file in bytes. The longest real text, two hundred letters spelled out one by one, takes a minute and a
 * half.
 */
const MAX_BYTES = 32 * 1024 * 1024;

const options = workerOptions<FliteOptions>();
const compiled = readFile(options.wasm).then((bytes) => wasm.compile(bytes));
// A failed compilation rejects the call that awaits the module; it must not end the thread.
compiled.catch(() => {});

serveWorker<FliteContract>({
  async speak({ text, voice, stretch }, transfer) {
    const fileName = 'spoken.wav';
    const how = ['-voice', voice, '--setf', `duration_stretch=${stretch}`];
    const line = ['flite', ...how, '-t', text, '-o', fileName];
    const file = runWasiCommand(await compiled, { line, fileName }, MAX_BYTES);
    const wav = parseWav(file);
    if (wav.kind === 'refused') throw new Error(`the synthesiser wrote no sound: ${wav.reason}`);
    const pcm = wavSamples(wav);
    transfer(pcm.buffer);
    return { pcm, sampleRateHz: wav.sampleRateHz };
  },
});
