import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { isBackchannel } from './backchannel.ts';
import type { CallLine } from './call-line.ts';

/** A pause whose speech neither ends nor has words is taken back after so long. */
const LONGEST_PAUSE_MS = 8_000;

/** Utterances that may wait for their words; beyond them the oldest interrupts nothing. */
const MOST_WAITING = 16;

/**
 * What an utterance does to the answer: it is spoken over it, or has paused it, or is `decided`, since it has interrupted
 * the answer or there was none.
 */
type Utterance = { state: 'speaking' | 'paused' | 'decided'; loudMs: number };

type BargeInLine = Pick<
  CallLine,
  'forgetAfterPlayed' | 'holdEnd' | 'isPlaying' | 'pause' | 'releaseEnd' | 'resume'
>;

/**
 * Decides for each utterance whether a caller who speaks over an answer interrupts it. Speech pauses the answer once it has
 * been loud for `LIMITS.phone.bargeInMs`, so that a cough does not; words end it, unless they are only a sign of listening;
 * then it goes on where it was heard. Nothing that waits for the end of the answer happens before that is decided.
 */
export class BargeIn {
  /** The utterance that began last, until it has its words. */
  #newest: Utterance | undefined;
  readonly #clock: Clock;
  readonly #line: BargeInLine;
  /** Whether an answer is being made or heard. */
  readonly #isAnswering: () => boolean;
  readonly #interrupt: () => void;
  /** Utterances that wait for their words, by their item; oldest first. */
  readonly #waiting = new Map<string, Utterance>();
  #timer: TimerHandle | undefined;
  #isAddressed = true;

  constructor(options: {
    readonly clock: Clock;
    readonly line: BargeInLine;
    readonly isAnswering: () => boolean;
    readonly interrupt: () => void;
  }) {
    this.#clock = options.clock;
    this.#line = options.line;
    this.#isAnswering = options.isAnswering;
    this.#interrupt = options.interrupt;
  }

  /** Turn detection hears the caller begin. */
  speechStarted(itemId: string, { mayInterrupt }: { readonly mayInterrupt: boolean }): void {
    const isOverAnswer = mayInterrupt && this.#hasAnswer;
    const utterance: Utterance = { state: isOverAnswer ? 'speaking' : 'decided', loudMs: 0 };
    this.#waiting.set(itemId, utterance);
    this.#newest = utterance;
    this.#line.holdEnd('speech');
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MOST_WAITING && oldest !== undefined) this.forgotten(oldest);
  }

  /** Whether it matters how loud the caller is. */
  get isMeasuring(): boolean {
    return this.#newest?.state === 'speaking';
  }

  /** The caller was loud for so long. */
  loud(ms: number): void {
    const utterance = this.#newest;
    if (utterance?.state !== 'speaking') return;
    utterance.loudMs += ms;
    if (utterance.loudMs >= LIMITS.phone.bargeInMs) this.#pause(utterance);
  }

  /** Words of an utterance in progress. */
  interim(itemId: string, text: string): void {
    const utterance = this.#waiting.get(itemId);
    if (utterance === undefined || utterance.state === 'decided') return;
    if (text.trim() === '' || isBackchannel(text)) return;
    utterance.state = 'decided';
    this.#stop();
  }

  /** An utterance is over, and these are its words. */
  heard(itemId: string, text: string): void {
    const utterance = this.#take(itemId);
    this.#isAddressed = true;
    if (utterance === undefined) return;
    const { state } = utterance;
    const hasWords = text.trim() !== '';
    // What was too short to pause the answer was a noise, whatever a recogniser makes of it.
    const isNothing = state === 'speaking' || !hasWords || isBackchannel(text);
    if (state === 'decided') {
      if (hasWords) this.#line.forgetAfterPlayed();
    } else if (isNothing) this.#isAddressed = false;
    else this.#stop();
    this.#goOn();
  }

  /** An utterance was dropped: it has no words. */
  forgotten(itemId: string): void {
    if (this.#take(itemId) !== undefined) this.#goOn();
  }

  /** Whether the utterance that was heard last asks for an answer. */
  get isAddressed(): boolean {
    return this.#isAddressed;
  }

  /** The caller interrupts by other means, such as a key. */
  interruptNow(): void {
    if (!this.#hasAnswer) return;
    this.#decideAll();
    this.#stop();
    this.#goOn();
  }

  /** No utterance interrupts anything any more, and nothing waits for the end of the answer. */
  close(): void {
    this.#cancel();
    this.#waiting.clear();
    this.#newest = undefined;
    this.#line.forgetAfterPlayed();
    this.#line.releaseEnd('speech');
  }

  get #hasAnswer(): boolean {
    return this.#isAnswering() || this.#line.isPlaying;
  }

  #take(itemId: string): Utterance | undefined {
    const utterance = this.#waiting.get(itemId);
    this.#waiting.delete(itemId);
    if (utterance === this.#newest) this.#newest = undefined;
    return utterance;
  }

  #pause(utterance: Utterance): void {
    utterance.state = 'paused';
    this.#line.pause();
    this.#cancel();
    this.#timer = this.#clock.setTimeout(() => {
      this.#decideAll();
      this.#goOn();
    }, LONGEST_PAUSE_MS);
  }

  #decideAll(): void {
    for (const utterance of this.#waiting.values()) utterance.state = 'decided';
  }

  /** Forgets first what waits for the end of the answer, because an interruption ends the answer, too. */
  #stop(): void {
    this.#line.forgetAfterPlayed();
    this.#interrupt();
  }

  /** Lets the line play on, unless an utterance that has no words yet has paused it. */
  #goOn(): void {
    const isPaused = [...this.#waiting.values()].some(({ state }) => state === 'paused');
    if (isPaused) this.#line.pause();
    else {
      this.#cancel();
      this.#line.resume();
    }
    if (this.#waiting.size === 0) this.#line.releaseEnd('speech');
  }

  #cancel(): void {
    if (this.#timer !== undefined) this.#clock.clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
