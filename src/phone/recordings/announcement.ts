import type { TurnCause } from '../../../machines/voice-turn.ts';
import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { CallLine } from '../voice/line/call-line.ts';

/**
 * Tells the other side of a call that it is recorded, before anything else is said. The sentence is not interrupted by
 * speech or keys; what is said or keyed meanwhile is answered after it. It counts as heard once the carrier says that it was played whole.
 */
export class Announcement {
  readonly #deps: AnnouncementDeps;
  #state: 'saying' | 'sent' | 'over' = 'over';
  #timer: TimerHandle | undefined;
  #hasQuestion = false;

  constructor(deps: AnnouncementDeps) {
    this.#deps = deps;
  }

  /** It is being said, or was not heard yet. */
  get isOpen(): boolean {
    return this.#state !== 'over';
  }

  begin(notice: string): void {
    this.#state = 'saying';
    this.#deps.say(notice);
  }

  /** The other side has said or keyed something that asks for an answer, which it gets afterwards. */
  asked(): void {
    this.#hasQuestion = true;
  }

  /** An answer is done. True: it was the announcement. */
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
    }, LIMITS.phone.lastWordsMs);
    this.#deps.line.whenHeard(() => this.#heard());
    this.#deps.greet();
    return true;
  }

  /** The line is gone, or the call ends: what was not heard by now is not taken as heard. */
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

  /** A greeting answers it as well. */
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
  /** Says what the agent begins with, if anything. */
  readonly greet: () => void;
  readonly hasGreeting: boolean;
  /** Answers what the other side has said. */
  readonly respond: () => void;
  /** The other side has heard the whole announcement. */
  readonly heard: () => void;
  /** It has not, and will not. */
  readonly notHeard: () => void;
};
