import { LIMITS } from '../../kernel/limits.ts';

const PROMPT = 'Are you still there?';

/** What is said to a caller who has fallen silent, and how often in vain. */
export class SilentCaller {
  readonly #isGathering: () => boolean;
  readonly #giveUp: () => void;
  #prompts = 0;

  constructor(options: {
    /** Whether keys are gathered that a brain has asked for. */
    readonly isGathering: () => boolean;
    /** Runs where the caller has shown no sign of life since `LIMITS.phone.prompts` prompts. */
    readonly giveUp: () => void;
  }) {
    this.#isGathering = options.isGathering;
    this.#giveUp = options.giveUp;
  }

  /** What a caller is asked who is silent now. Empty: nothing. */
  prompt(): string {
    // A person who looks for a card is not asked whether they are there.
    if (this.#isGathering()) return '';
    if (++this.#prompts > LIMITS.phone.prompts) this.#giveUp();
    return PROMPT;
  }

  /** The caller has said something, or pressed a key. */
  isThere(): void {
    this.#prompts = 0;
  }
}
