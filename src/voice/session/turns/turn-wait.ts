import type { Clock, TimerHandle } from '../../../kernel/clock.ts';
import type { Conversation } from '../conversation.ts';
import { type TurnDetection, waitsOf } from '../turn-detection.ts';
import { isPunctuated, silenceAfter } from './end-of-turn.ts';
import { lastTurn } from './turn-so-far.ts';

type HeardTurn = {
  /** Milliseconds of silence after the last word. */
  readonly silentMs: number;
  /** True when the caller has begun the next utterance, which may have ended. */
  readonly isSpeaking: boolean;
  /** True when the transcriber has detected the end of the turn. */
  readonly isTurnOver: boolean;
};

/**
 * Holds a turn of the caller open beyond the end of an utterance whose words lead on to others. Without words that matter
 * (`waitsOf`) every turn ends with its utterance.
 */
export class TurnWait {
  readonly #clock: Clock;
  readonly #conversation: Pick<Conversation, 'items'>;
  readonly #detection: () => TurnDetection | null;
  /** Called when the caller was silent for the whole wait. */
  readonly #over: () => void;
  #timer: TimerHandle | undefined;
  #isOpen = false;
  #isPunctuated = false;

  constructor(options: {
    readonly clock: Clock;
    readonly conversation: Pick<Conversation, 'items'>;
    readonly detection: () => TurnDetection | null;
    readonly over: () => void;
  }) {
    this.#clock = options.clock;
    this.#conversation = options.conversation;
    this.#detection = options.detection;
    this.#over = options.over;
  }

  /**
   * Returns the milliseconds of silence that end the turn after these words. Undefined when words do not change the silence.
   */
  silenceAfter(words: string): number | undefined {
    return this.#silenceAfter((said) => (this.#isOpen ? `${said} ${words}` : words));
  }

  /**
   * Handles an utterance that entered the conversation `silentMs` after its last word. Returns true when its turn is held open,
   * until the wait runs out or, if the caller already speaks again, until the next utterance.
   */
  heard(text: string, { isSpeaking, isTurnOver, silentMs }: HeardTurn): boolean {
    this.#isPunctuated ||= isPunctuated(text);
    this.resumed();
    const waitMs = isTurnOver ? undefined : this.#silenceAfter((said) => said);
    const leftMs = (waitMs ?? 0) - silentMs;
    this.#isOpen = leftMs > 0;
    if (this.#isOpen && !isSpeaking) {
      this.#timer = this.#clock.setTimeout(() => {
        this.#timer = undefined;
        this.#over();
      }, leftMs);
    }
    return this.#isOpen;
  }

  /** True when the caller's next words belong to the same turn as the last words, unless an answer is heard between them. */
  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Cancels the wait, because the caller goes on or the session is over. */
  resumed(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  /** True while the wait for more words of the caller runs. */
  get isWaiting(): boolean {
    return this.#timer !== undefined;
  }

  #silenceAfter(wordsOf: (said: string) => string): number | undefined {
    const waits = waitsOf(this.#detection());
    if (waits === undefined) return undefined;
    const { asked, said } = lastTurn(this.#conversation.items);
    return silenceAfter(wordsOf(said), waits, { asked, isPunctuated: this.#isPunctuated });
  }
}
