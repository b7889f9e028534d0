import type { Ending } from '../../../machines/transcription-stream.ts';
import { type Clock, within } from '../../kernel/clock.ts';
import { VOICE_LIMITS } from '../limits.ts';
import type { VoiceLife } from '../live/voice-life.ts';
import type { TurnCycle } from './turn-cycle.ts';
import type { VoicePipeline } from './voice-pipeline.ts';

type SettlementDeps = {
  readonly clock: Clock;
  /** Resolves once the caller has heard the last words; undefined when no last words are spoken. */
  readonly heardOut: Promise<void> | undefined;
  readonly life: VoiceLife;
  readonly pipeline: Pick<VoicePipeline, 'paymentsKnown'>;
  readonly turns: Pick<TurnCycle, 'billRest'>;
};

/** Settles a session once its caller has heard the last words and its payments in progress are known, or on `abandon`. */
export class Settlement {
  readonly #deps: SettlementDeps;
  #abandon = () => {};
  readonly #abandoned = new Promise<void>((resolve) => {
    this.#abandon = resolve;
  });

  constructor(deps: SettlementDeps) {
    this.#deps = deps;
  }

  /** Settles without further waiting. */
  abandon(): void {
    this.#abandon();
  }

  settle(ending: Ending): void {
    const { life, pipeline, turns } = this.#deps;
    turns.billRest();
    // The charges billed above are in the journal before this wait, whatever happens to this process.
    Promise.race([Promise.all([pipeline.paymentsKnown(), this.#heardOut()]), this.#abandoned])
      .then(() => turns.billRest())
      .catch((error: unknown) => life.logError(error, 'the last payments were not billed'))
      .finally(() => life.settle(ending));
  }

  async #heardOut(): Promise<void> {
    const { clock, heardOut } = this.#deps;
    if (heardOut !== undefined) await within(clock, VOICE_LIMITS.heardOutMs, heardOut, () => {});
  }
}
