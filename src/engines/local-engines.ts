import { availableParallelism } from 'node:os';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import type { Random } from '../kernel/random.ts';
import { createDecoderPool } from './asr/decoder-pool.ts';
import type { GrammarOptions } from './asr/grammar-worker.ts';
import { createListeningPlaces } from './asr/listening-places.ts';
import type { PocketsphinxOptions } from './asr/pocketsphinx-worker.ts';
import { DECODER_CALLS_IN_FLIGHT, type SttContract } from './asr/stt-contract.ts';
import { createSttEngine, decodersOf } from './asr/stt-engine.ts';
import type { DecodingContract } from './decoding/decoding-worker.ts';
import { createSoundDecoding } from './decoding/sound-decoding.ts';
import type { EngineName, LocalEngines } from './engine.ts';
import { ENGINE_LIMITS } from './limits.ts';
import { createGuide, createTokenCounter, createUseLite } from './text/text-engines.ts';
import type { TextContract, TextOptions } from './text/text-worker.ts';
import { createEngineFiles, type EngineFiles } from './threads/engine-files.ts';
import { createFairQueue } from './threads/fair-queue.ts';
import { createWorkerClient, type WorkerClient, workerEntry } from './threads/worker-client.ts';
import type { Contract } from './threads/worker-protocol.ts';
import type { EncoderContract, EncoderOptions } from './tts/encoder-worker.ts';
import { createFlite } from './tts/flite.ts';
import type { FliteContract, FliteOptions } from './tts/flite-worker.ts';
import { createSoundEncoding } from './tts/sound-encoding.ts';
import { createTurns, type Turns } from './vad/turns.ts';
import { createVad } from './vad/vad.ts';
import type { VadContract, VadWorkerOptions } from './vad/vad-worker.ts';

export type LocalEnginesDeps = {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly files?: EngineFiles;
  readonly sizes?: {
    /** Decoders of `local/pocketsphinx`; about 125 MB each once in use. */
    readonly decoders?: number;
    /** Listeners of each recogniser, in place of as many as it can keep up with. */
    readonly listeners?: number | undefined;
  };
};

/** Folder under `src/engines` that contains each engine's worker. */
const WORKER_FOLDERS = {
  decoding: 'decoding',
  encoder: 'tts',
  flite: 'tts',
  grammar: 'asr',
  pocketsphinx: 'asr',
  text: 'text',
  vad: 'vad',
} as const;

/** Makes clients of the engines' workers. `options` is called when the thread starts. */
type MakeClient = <C extends Contract, Options>(
  name: keyof typeof WORKER_FOLDERS,
  options: () => Options,
  bounds: { readonly maxInFlight: number; readonly niceness: number; readonly turns?: Turns },
) => WorkerClient<C>;

const WARMING_QUESTION = {
  messages: [{ role: 'user', content: 'hello' }],
  facts: { agentName: '', spendableRaw: 0n, heldRaw: 0n, spentRaw: 0n },
  maxTokens: 1,
  nowMs: 0,
} as const;

/** Creates every engine without starting it: the first call to an engine starts its worker thread. */
export function createLocalEngines(deps: LocalEnginesDeps): LocalEngines {
  const { files = createEngineFiles() } = deps;
  const makeClient: MakeClient = (name, options, bounds) => {
    const entry = workerEntry(`${WORKER_FOLDERS[name]}/${name}-worker`, import.meta.url);
    const { clock, log } = deps;
    return createWorkerClient({ name, clock, log, entry, options, ...bounds });
  };
  const { flite, encoder, decoder, text, silero } = createClients(makeClient, files);
  const decoders = decodersOf(availableParallelism());
  const pools = createDecoderPools(deps, { files, makeClient, ...decoders });
  const places = () =>
    createListeningPlaces({
      cores: decoders.cores,
      // A burst of other work does not close the phone: each decoder may always have a listener.
      least: decoders.size,
      most: deps.sizes?.listeners,
    });
  const requirePresent = (engine: EngineName) => () => files.requirePresent(engine);
  // Text engines share one thread, so they share one queue.
  const asText = { client: text, line: createFairQueue(ENGINE_LIMITS.queue) };

  let warmed = false;
  return {
    stt: {
      pocketsphinx: createSttEngine({
        clock: deps.clock,
        pool: pools.pocketsphinx,
        places: places(),
        requirePresent: requirePresent('pocketsphinx'),
      }),
      grammar: createSttEngine({
        clock: deps.clock,
        pool: pools.grammar,
        places: places(),
        requirePresent: requirePresent('grammar'),
        needsGrammar: true,
      }),
    },
    tts: { flite: createFlite({ client: flite, requirePresent: requirePresent('flite') }) },
    encoding: createSoundEncoding({ client: encoder, missing: files.missing }),
    decoding: createSoundDecoding({ client: decoder, requirePresent: requirePresent('decoders') }),
    embedding: {
      useLite: createUseLite({ ...asText, requirePresent: requirePresent('use-lite') }),
    },
    vad: createVad({ client: silero, clock: deps.clock, requirePresent: requirePresent('vad') }),
    guide: createGuide({ ...asText, requirePresent: requirePresent('guide') }),
    tokens: createTokenCounter({ ...asText, requirePresent: requirePresent('guide') }),
    missing: files.missing,
    warmUp() {
      if (warmed) return;
      warmed = true;
      // Failures are ignored here, because the first real call will fail in the same way.
      text.call('reply', WARMING_QUESTION).catch(() => {});
      flite.call('speak', { text: 'ready', voice: 'rms', stretch: 1 }).catch(() => {});
    },
    async [Symbol.asyncDispose]() {
      const parts = [pools.pocketsphinx, pools.grammar, flite, encoder, decoder, text, silero];
      await Promise.all(parts.map((part) => part[Symbol.asyncDispose]()));
    },
  };
}

/** Creates the workers of all engines except the recognisers. */
function createClients(makeClient: MakeClient, files: EngineFiles) {
  const niceness = ENGINE_LIMITS.worker.niceness.other;
  const flite = makeClient<FliteContract, FliteOptions>(
    'flite',
    () => ({ wasm: files.fliteWasm() }),
    { maxInFlight: ENGINE_LIMITS.speech.callsInFlight, niceness },
  );
  const encoder = makeClient<EncoderContract, EncoderOptions>(
    'encoder',
    () => ({ scripts: files.encoderScripts() }),
    { maxInFlight: ENGINE_LIMITS.encoding.callsInFlight, niceness },
  );
  const decoder = makeClient<DecodingContract, null>('decoding', () => null, {
    maxInFlight: ENGINE_LIMITS.decoding.callsInFlight,
    niceness: ENGINE_LIMITS.worker.niceness.decoder,
  });
  const text = makeClient<TextContract, TextOptions>(
    'text',
    () => ({ useLite: files.missing('use-lite') === undefined }),
    { maxInFlight: ENGINE_LIMITS.textCallsInFlight, niceness },
  );
  const silero = makeClient<VadContract, VadWorkerOptions>(
    'vad',
    () => ({ weights: files.sileroWeights() }),
    { maxInFlight: 4, niceness },
  );
  return { flite, encoder, decoder, text, silero };
}

/** Creates the recognisers, which take turns at the processor: one core is left for the media loop. */
function createDecoderPools(
  { sizes = {}, random }: LocalEnginesDeps,
  {
    cores,
    files,
    makeClient,
    size,
  }: {
    readonly files: EngineFiles;
    readonly makeClient: MakeClient;
    readonly size: number;
    readonly cores: number;
  },
) {
  const { niceness } = ENGINE_LIMITS.worker;
  const bounds = {
    maxInFlight: DECODER_CALLS_IN_FLIGHT,
    niceness: niceness.decoder,
    turns: createTurns(cores),
  };
  const seed = () => Buffer.from(random.bytes(4)).readUInt32LE();
  return {
    pocketsphinx: createDecoderPool({
      size: sizes.decoders ?? size,
      makeClient: () =>
        makeClient<SttContract, PocketsphinxOptions>(
          'pocketsphinx',
          () => ({ files: files.pocketsphinx(), seed: seed() }),
          bounds,
        ),
    }),
    grammar: createDecoderPool({
      size,
      makeClient: () =>
        makeClient<SttContract, GrammarOptions>(
          'grammar',
          () => ({ script: files.grammarScript() }),
          bounds,
        ),
    }),
  };
}
