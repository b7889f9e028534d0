import { workerOptions } from '../threads/worker-host.ts';
import { loadPocketsphinx, type PocketsphinxFiles } from './pocketsphinx-runtime.ts';
import { serveDecoder } from './serve-decoder.ts';
import { createUtterances } from './utterances.ts';

export type PocketsphinxOptions = {
  readonly files: PocketsphinxFiles;
  /** Seed of the dither's noise. */
  readonly seed: number;
};

const { files, seed } = workerOptions<PocketsphinxOptions>();

serveDecoder(createUtterances({ makeDecoder: () => loadPocketsphinx(files, seed) }));
