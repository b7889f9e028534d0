import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { isBackchannel } from './backchannel.ts';
import type { CallLine } from './call-line.ts';

/** A pause whose speech neither ends nor has words is taken back after so long. */
const LONGEST_PAUSE_MS = 8_000;

/**
 * Decides whether a caller who speaks over an answer interrupts it. Speech pauses the answer once it has been loud for
 * `LIMITS.phone.bargeInMs`, so that a cough does not; words end it, unless they are only a sign of listening; then it goes on where it was heard.
 */
export class BargeIn {
  readonly #clock: Clock;
  readonly #line: Pick<CallLine, 'isPlaying' | 'pause' | 'resume'>;
  /** Whether an answer is being made or heard. */
  readonly #isAnswering: () => boolean;
  readonly #interrupt: () => void;
  #state: 'quiet' | 'speaking' | 'paused' | 'interrupted' = 'quiet';
  #timer: TimerHandle | undefined;
  #loudMs = 0;
  #wasBackchannel = false;

  constructor(options: {
    readonly clock: Clock;
    readonly line: Pick<CallLine, 'isPlaying' | 'pause' | 'resume'>;
    readonly isAnswering: () => boolean;
    readonly interrupt: () => void;
  }) {
    this.#clock = options.clock;
    this.#line = options.line;
    this.#isAnswering = options.isAnswering;
    this.#interrupt = options.interrupt;
  }

  /** Turn detection hears the caller. */
  speechStarted(): void {
    this.#wasBackchannel = false;
    if (!this.#isAnswering() && !this.#line.isPlaying) return;
    this.#state = 'speaking';
    this.#loudMs = 0;
  }

  /** Whether it matters how loud the caller is. */
  get isMeasuring(): boolean {
    return this.#state === 'speaking';
  }

  /** The caller was loud for so long. */
  loud(ms: number): void {
    this.#loudMs += ms;
    if (this.#state === 'speaking' && this.#loudMs >= LIMITS.phone.bargeInMs) this.#pause();
  }

  /** Words of the utterance in progress. */
  interim(text: string): void {
    if (this.#state === 'quiet' || this.#state === 'interrupted') return;
    if (text.trim() !== '' && !isBackchannel(text)) this.#confirm();
  }

  /** The utterance is over. */
  heard(text: string): void {
    if (this.#state === 'quiet') return;
    // What was too short to pause the answer was a noise, whatever a recogniser makes of it.
    const isNothing = this.#state === 'speaking' || text.trim() === '' || isBackchannel(text);
    if (this.#state === 'interrupted') this.#quiet();
    else if (isNothing) {
      this.#wasBackchannel = true;
      this.#takeBack();
    } else {
      this.#confirm();
      this.#quiet();
    }
  }

  /** Whether the utterance that was heard last asks for an answer. */
  get isAddressed(): boolean {
    return !this.#wasBackchannel;
  }

  /** The caller interrupts by other means, such as a key. */
  interruptNow(): void {
    if (!this.#isAnswering() && !this.#line.isPlaying) return;
    this.#interrupt();
    this.#quiet();
  }

  close(): void {
    this.#quiet();
  }

  #pause(): void {
    this.#state = 'paused';
    this.#line.pause();
    this.#after(LONGEST_PAUSE_MS, () => this.#takeBack());
  }

  #confirm(): void {
    this.#cancel();
    this.#state = 'interrupted';
    this.#interrupt();
  }

  #takeBack(): void {
    this.#line.resume();
    this.#quiet();
  }

  #quiet(): void {
    this.#cancel();
    this.#state = 'quiet';
  }

  #after(ms: number, work: () => void): void {
    this.#cancel();
    this.#timer = this.#clock.setTimeout(work, ms);
  }

  #cancel(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
