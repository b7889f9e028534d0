import { PHONE_LIMITS } from '../limits.ts';

const PROMPT = 'Are you still there?';

/** Prompts a caller who has fallen silent, and gives up after `PHONE_LIMITS.call.prompts` prompts in vain. */
export class SilentCaller {
  readonly #isGathering: () => boolean;
  readonly #giveUp: () => void;
  #prompts = 0;

  constructor(options: {
    /** Returns true while keys are gathered or a tool runs; the caller is not prompted then. */
    readonly isGathering: () => boolean;
    /** Called when the caller is still silent after `PHONE_LIMITS.call.prompts` prompts. */
    readonly giveUp: () => void;
  }) {
    this.#isGathering = options.isGathering;
    this.#giveUp = options.giveUp;
  }

  /** Returns the prompt for a caller who is silent now, and counts it. Empty: none. */
  prompt(): string {
    // A caller who looks for a card gets no prompt.
    if (this.#isGathering()) return '';
    if (++this.#prompts > PHONE_LIMITS.call.prompts) this.#giveUp();
    return PROMPT;
  }

  /** Resets the count of prompts, because the caller has spoken or pressed a key. */
  isThere(): void {
    this.#prompts = 0;
  }
}
