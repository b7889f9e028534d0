import type { Clock } from '../../kernel/clock.ts';
import type { EnginePlace, SharedSttEngine, SttListener } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';
import type { DecoderPool } from './decoder-pool.ts';
import type { ListeningPlaces } from './listening-places.ts';
import { SharedStream } from './stt-stream.ts';

export type SttEngineDeps = {
  readonly clock: Clock;
  readonly pool: DecoderPool;
  readonly places: ListeningPlaces;
  /** Throws EngineMissing when the engine's package was pruned. */
  readonly requirePresent: () => void;
  /** Every stream needs a grammar, which is checked before the stream is opened. */
  readonly needsGrammar?: boolean;
};

/**
 * Creates a recogniser of this process. Its streams share the decoders of a pool: each stream has a decoder for the duration of
 * an utterance.
 */
export function createSttEngine({
  clock,
  needsGrammar = false,
  places,
  pool,
  requirePresent,
}: SttEngineDeps): SharedSttEngine {
  /** Loads the first decoder before the first caller of this recogniser speaks: a load takes 0.5 to 3 s. */
  let isWarm = false;
  let loaded: Promise<void> = Promise.resolve();
  function warm() {
    if (isWarm) return;
    isWarm = true;
    loaded = withDecoder({}).catch(() => {
      isWarm = false;
    });
  }

  /** Loads a decoder for each place while its caller hears the greeting: on a slow core a load takes 3 s. */
  function warmPlaces() {
    warm();
    loaded = loaded.then(() => pool.grow(places.taken, (client) => client.call('start', {})));
  }

  /** Begins and leaves a stream that hears nothing: it loads a decoder, and shows whether a grammar can be used. */
  function withDecoder(start: { readonly grammar?: string }): Promise<void> {
    return new Promise((resolve, reject) => {
      pool.take((client) => {
        client
          .call('start', start)
          .then(() => resolve(), reject)
          .finally(() => pool.giveBack(client, false));
      });
    });
  }

  async function openAt(
    place: EnginePlace,
    options: {
      readonly sampleRateHz: number;
      readonly listener: SttListener;
      readonly grammar?: string | undefined;
    },
  ) {
    const { grammar, listener, sampleRateHz } = options;
    if (needsGrammar) await withDecoder(grammar === undefined ? {} : { grammar });
    else warm();
    return new SharedStream({
      clock,
      pool,
      sampleRateHz,
      listener,
      grammar,
      decoded: places.decoded,
      closed: () => place.release(),
    });
  }

  return {
    takePlace(isUnderWay = false) {
      requirePresent();
      const place = isUnderWay ? places.takeOver() : places.take('live');
      warmPlaces();
      return place;
    },
    async open({ load = 'live', place, ...options }) {
      requirePresent();
      // The place of a session outlives its streams.
      const own = place === undefined ? places.take(load) : NO_PLACE;
      try {
        return await openAt(own, options);
      } catch (error) {
        own.release();
        throw error;
      }
    },
    get places() {
      return places;
    },
  };
}

const NO_PLACE: EnginePlace = { release() {} };

/** Returns the number of decoders on a machine, and the number that compute at a time. */
export function decodersOf(cores: number): { readonly size: number; readonly cores: number } {
  const { most: decodersMax, perCore: decodersPerCore } = ENGINE_LIMITS.decoder;
  // One core is left for the media loop.
  const decoding = Math.max(1, cores - 1);
  return { size: Math.min(decodersMax, decodersPerCore * decoding), cores: decoding };
}
