import {
  EngineBusy,
  EngineMissing,
  type EnginePlace,
  type SharedSttEngine,
} from '../../../engines/engine.ts';
import { ENGINE_LIMITS } from '../../../engines/limits.ts';
import type { Clock, TimerHandle } from '../../../kernel/clock.ts';
import { PHONE_LIMITS } from '../../limits.ts';

/** The room for calls at the recogniser of this process: a call has its place before anything rings or is answered. */
export interface RecogniserPlaces {
  /**
   * Keeps a place for a ringing call, up to the longest time of ringing. Without a free place, returns the seconds until
   * another attempt.
   */
  keep(callId: string): number | undefined;
  /** Calls that ring and have a place here. */
  readonly kept: readonly string[];
  /** Gives back the place of a call that was never answered. */
  forget(callId: string): void;
  /**
   * Returns the place of a call whose media stream is here. A call that is under way, or was admitted by another process, gets
   * a place even when none is free, and is not dropped.
   */
  take(callId: string): EnginePlace;
}

/** Milliseconds that a place is kept: longer than a call rings, and than its carrier takes to report no answer. */
const KEPT_MS = PHONE_LIMITS.call.ringSeconds * 1_000 + PHONE_LIMITS.call.sweepGraceMs;

export function createRecogniserPlaces({
  clock,
  recogniser,
}: {
  readonly clock: Clock;
  readonly recogniser: Pick<SharedSttEngine, 'takePlace'>;
}): RecogniserPlaces {
  const kept = new Map<string, { readonly place: EnginePlace; readonly timer: TimerHandle }>();

  function unkeep(callId: string): EnginePlace | undefined {
    const found = kept.get(callId);
    if (found === undefined) return undefined;
    kept.delete(callId);
    clock.clearTimeout(found.timer);
    return found.place;
  }

  const forget = (callId: string) => unkeep(callId)?.release();

  return {
    get kept() {
      return [...kept.keys()];
    },
    keep(callId) {
      if (kept.has(callId)) return undefined;
      try {
        const place = recogniser.takePlace();
        kept.set(callId, { place, timer: clock.setTimeout(() => forget(callId), KEPT_MS) });
        return undefined;
      } catch (error) {
        if (error instanceof EngineBusy) return error.retryAfterSeconds;
        if (error instanceof EngineMissing) return ENGINE_LIMITS.decoder.retrySeconds;
        throw error;
      }
    },
    forget,
    take: (callId) => unkeep(callId) ?? recogniser.takePlace(true),
  };
}
