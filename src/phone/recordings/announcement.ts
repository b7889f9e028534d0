import type { TurnCause } from '../../../machines/voice-turn.ts';
import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { PHONE_LIMITS } from '../limits.ts';
import type { CallLine } from '../voice/line/call-line.ts';

/**
 * Announces to the peer that the call is recorded, before any other sentence. Speech and keys do not interrupt the sentence,
 * and are answered after it. The sentence counts as heard once the carrier reports that it was played whole.
 */
export class Announcement {
  readonly #deps: AnnouncementDeps;
  #state: 'saying' | 'sent' | 'over' = 'over';
  #timer: TimerHandle | undefined;
  #hasQuestion = false;

  constructor(deps: AnnouncementDeps) {
    this.#deps = deps;
  }

  /** True while the notice is being said, or was not heard yet. */
  get isOpen(): boolean {
    return this.#state !== 'over';
  }

  begin(notice: string): void {
    this.#state = 'saying';
    this.#deps.say(notice);
  }

  /** Notes that the peer has said or keyed something, which is answered after the notice. */
  asked(): void {
    this.#hasQuestion = true;
  }

  /** Handles the end of an answer. Returns true when the answer was the notice. */
  answered(cause: TurnCause | undefined): boolean {
    if (this.#state !== 'saying') return false;
    if (cause !== undefined) {
      this.giveUp();
      // A notice that failed is not repeated: the call goes on without a recording.
      if (cause.kind === 'failed') {
        this.#deps.greet();
        this.#answerQuestion();
      }
      return true;
    }
    this.#state = 'sent';
    this.#timer = this.#deps.clock.setTimeout(() => {
      this.giveUp();
      this.#answerQuestion();
    }, PHONE_LIMITS.call.lastWordsMs);
    this.#deps.line.whenHeard(() => this.#heard());
    this.#deps.greet();
    return true;
  }

  /** Gives the notice up, because the line is gone or the call ends: a notice that was not heard by now counts as not heard. */
  giveUp(): void {
    if (this.#state === 'over') return;
    this.#close();
    this.#deps.notHeard();
  }

  #heard(): void {
    if (this.#state !== 'sent') return;
    this.#close();
    this.#deps.heard();
    this.#answerQuestion();
  }

  /** Answers the words or keys that came during the notice, unless the agent has a greeting, which answers them too. */
  #answerQuestion(): void {
    if (this.#hasQuestion && !this.#deps.hasGreeting) this.#deps.respond();
    this.#hasQuestion = false;
  }

  #close(): void {
    this.#state = 'over';
    if (this.#timer !== undefined) this.#deps.clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

export type AnnouncementDeps = {
  readonly clock: Clock;
  readonly line: Pick<CallLine, 'whenHeard'>;
  readonly say: (text: string) => void;
  /** Says the agent's first words, if there are any. */
  readonly greet: () => void;
  readonly hasGreeting: boolean;
  /** Begins an answer to the peer's words. */
  readonly respond: () => void;
  /** Runs when the peer has heard the whole notice. */
  readonly heard: () => void;
  /** Runs when the peer has not heard the notice, and will not. */
  readonly notHeard: () => void;
};
