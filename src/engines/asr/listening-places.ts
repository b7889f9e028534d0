import { EngineBusy, type EnginePlace, type ListeningLoad } from '../engine.ts';
import { ENGINE_LIMITS } from '../limits.ts';

/** The room at a recogniser. It is as large as the speed lets it be with which sound was decoded lately. */
export interface ListeningPlaces {
  /** Throws EngineBusy when the recogniser could not keep up with one more. */
  take(load: ListeningLoad): EnginePlace;
  /** Takes a place even when the recogniser is full, for a listener whose call is in progress. */
  takeOver(): EnginePlace;
  /** Sound of `soundMs` took a decoder `workMs`. */
  decoded(workMs: number, soundMs: number): void;
  /** Places taken, and refused so far. */
  readonly taken: number;
  readonly refused: number;
  /** Live listeners that there is room for in all. */
  readonly most: number;
}

const {
  retrySeconds: decoderRetrySeconds,
  placeShare,
  placeSpeech,
  realTimeFactor,
} = ENGINE_LIMITS.decoder;

/**
 * Creates the places of a recogniser. `cores` is the number of decoders that compute at a time, `least` the number of live
 * listeners that always have a place; `most` fixes the number of live listeners, regardless of the speed.
 */
export function createListeningPlaces(options: {
  readonly cores: number;
  readonly least?: number;
  readonly most?: number | undefined;
}): ListeningPlaces {
  const { least = 1 } = options;
  let factor: number = realTimeFactor.first;
  let load = 0;
  let taken = 0;
  let refused = 0;

  const most = () =>
    options.most ??
    Math.max(least, Math.round((options.cores * placeShare) / (factor * placeSpeech.live)));

  function place(share: number): EnginePlace {
    let isHeld = true;
    load += share;
    taken += 1;
    return {
      release() {
        if (!isHeld) return;
        isHeld = false;
        load -= share;
        taken -= 1;
      },
    };
  }

  return {
    take(kind) {
      const share = placeSpeech[kind];
      // A file may be transcribed wherever one listener would fit, if there are no others.
      if (taken > 0 && load + share > most() * placeSpeech.live) {
        refused += 1;
        throw new EngineBusy(decoderRetrySeconds);
      }
      return place(share);
    },
    takeOver: () => place(placeSpeech.live),
    decoded(workMs, soundMs) {
      const weight = Math.min(1, soundMs / (realTimeFactor.overSeconds * 1_000));
      factor += weight * (workMs / soundMs - factor);
    },
    get taken() {
      return taken;
    },
    get refused() {
      return refused;
    },
    get most() {
      return most();
    },
  };
}
