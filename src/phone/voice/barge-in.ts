import type { Clock, TimerHandle } from '../../kernel/clock.ts';
import { PHONE_LIMITS } from '../limits.ts';
import {
  type InterruptionRules,
  isInterruption,
  isOneWord,
  isShortAnswer,
  isStop,
} from './backchannel.ts';
import type { CallLine } from './line/call-line.ts';

/** Milliseconds after which a paused answer resumes when neither words nor the end of the speech came. */
const LONGEST_PAUSE_MS = 8_000;

/** Number of utterances that may wait for their words. Beyond it the oldest utterance can no longer interrupt. */
const MOST_WAITING = 16;

/** Milliseconds of sound below which the rest of an answer does not count as more to hear. */
const REST_MS = 200;

/** Milliseconds of loud speech from which the words that two transcripts in progress begin with may interrupt. */
const GUESS_MS = 500;

/** Least milliseconds of consonants and of a vowel in a short word such as "stop". */
const CONSONANT_MS = 60;
const VOWEL_MS = 100;

/**
 * An utterance of the caller without final words. `speaking`: the answer still plays; `paused`: the answer is paused until the
 * words come; `decided`: the utterance cannot interrupt any more, or there was no answer to interrupt.
 */
type Utterance = {
  state: 'speaking' | 'paused' | 'decided';
  loudMs: number;
  /** The sound of the caller's consonants and vowels, from before the utterance was noticed. */
  consonantMs: number;
  vowelMs: number;
  guess: string;
  /** True when the utterance began near the end of the agent's question. */
  readonly isAtQuestion: boolean;
};

/** Rules by which the caller's speech interrupts an answer. */
export type BargeInRules = InterruptionRules & {
  /** True when the caller's speech can interrupt answers. */
  readonly isOn: boolean;
  /** Milliseconds of loud speech after which the answer is paused. */
  readonly minMs: number;
};

export const USUAL_RULES: BargeInRules = {
  isOn: true,
  minMs: PHONE_LIMITS.interruption.bargeInMs,
  minWords: 2,
  ignoreWords: new Set(),
};

type BargeInLine = Pick<
  CallLine,
  'forgetAfterPlayed' | 'holdEnd' | 'isEndAwaited' | 'leftMs' | 'pause' | 'releaseEnd' | 'resume'
>;

/**
 * Decides for each utterance whether a caller who speaks over an answer interrupts it. Speech that is loud for `minMs` pauses
 * the answer. Its final words end the answer, or let it go on where it was heard; words that nothing more is played behind,
 * or that are said at the end of a question, are the caller's turn whatever they are.
 */
export class BargeIn {
  /** Latest utterance, while it waits for its words. */
  #newest: Utterance | undefined;
  readonly #clock: Clock;
  readonly #line: BargeInLine;
  /** Returns true while an answer is being produced that has not yet said all for now. */
  readonly #isAnswering: () => boolean;
  readonly #interrupt: () => void;
  /** Returns true while the peer hears the end of a question, or has just heard it. */
  readonly #isAtQuestion: () => boolean;
  readonly #rules: BargeInRules;
  /** Utterances that wait for their words, by item id; oldest first. */
  readonly #waiting = new Map<string, Utterance>();
  #timer: TimerHandle | undefined;
  #isAddressed = true;

  constructor(options: {
    readonly clock: Clock;
    readonly line: BargeInLine;
    readonly isAnswering: () => boolean;
    readonly interrupt: () => void;
    readonly isAtQuestion: () => boolean;
    readonly rules?: BargeInRules | undefined;
  }) {
    this.#clock = options.clock;
    this.#line = options.line;
    this.#isAnswering = options.isAnswering;
    this.#interrupt = options.interrupt;
    this.#isAtQuestion = options.isAtQuestion;
    this.#rules = options.rules ?? USUAL_RULES;
  }

  /** Handles the start of the caller's speech, as turn detection reports it. */
  speechStarted(itemId: string, { mayInterrupt }: { readonly mayInterrupt: boolean }): void {
    const isOverAnswer = mayInterrupt && this.#hasAnswer;
    const utterance: Utterance = {
      state: isOverAnswer ? 'speaking' : 'decided',
      loudMs: 0,
      consonantMs: 0,
      vowelMs: 0,
      guess: '',
      isAtQuestion: isOverAnswer && this.#isAtQuestion(),
    };
    this.#waiting.set(itemId, utterance);
    this.#newest = utterance;
    this.#line.holdEnd('speech');
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MOST_WAITING && oldest !== undefined) this.forgotten(oldest);
  }

  /** True while the loudness of the caller matters, since the newest utterance may still pause an answer. */
  get isMeasuring(): boolean {
    return this.#newest !== undefined && this.#newest.state !== 'decided';
  }

  /** Adds `ms` of loud speech to the newest utterance, which pauses the answer at `minMs`. */
  loud(ms: number): void {
    const utterance = this.#newest;
    if (utterance === undefined) return;
    utterance.loudMs += ms;
    const { isOn, minMs } = this.#rules;
    if (utterance.state === 'speaking' && isOn && utterance.loudMs >= minMs) this.#pause(utterance);
  }

  /** Adds `ms` of sound like a breathed consonant. */
  consonant(ms: number): void {
    if (this.#newest !== undefined) this.#newest.consonantMs += ms;
  }

  /** Adds `ms` of loud sound like a vowel or a hum. */
  vowel(ms: number): void {
    if (this.#newest !== undefined) this.#newest.vowelMs += ms;
  }

  /** Handles interim words of an utterance. Words with which two interim transcripts begin count as said. */
  interim(itemId: string, text: string): void {
    const utterance = this.#waiting.get(itemId);
    if (utterance?.state !== 'paused') return;
    const said = sameBeginning(utterance.guess, text);
    utterance.guess = text;
    const isLong = utterance.loudMs >= GUESS_MS && said.includes(' ');
    if (!isLong || !isInterruption(said, this.#rules, utterance.loudMs)) return;
    utterance.state = 'decided';
    this.#stop();
  }

  /** Handles the final words of an utterance. */
  heard(itemId: string, text: string): void {
    const utterance = this.#take(itemId);
    this.#isAddressed = true;
    if (utterance === undefined) return;
    const hasWords = text.trim() !== '';
    if (utterance.state === 'decided') {
      if (hasWords) this.#line.forgetAfterPlayed();
    } else if (hasWords && this.#isReply(utterance, text)) {
      if (this.#hasAnswer) this.#stop();
      else this.#line.forgetAfterPlayed();
    } else this.#isAddressed = false;
    this.#goOn();
  }

  /** Handles an utterance that was dropped and has no words. */
  forgotten(itemId: string): void {
    if (this.#take(itemId) !== undefined) this.#goOn();
  }

  /** True when the utterance that was heard last asks for an answer. */
  get isAddressed(): boolean {
    return this.#isAddressed;
  }

  /** Interrupts the answer at once, for other input than speech, such as a key. */
  interruptNow(): void {
    if (!this.#hasAnswer) return;
    this.#decideAll();
    this.#stop();
    this.#goOn();
  }

  /** Stops the handling of utterances, and drops the callback that waits for the end of the answer. */
  close(): void {
    this.#cancel();
    this.#waiting.clear();
    this.#newest = undefined;
    this.#line.forgetAfterPlayed();
    this.#line.releaseEnd('speech');
  }

  get #hasAnswer(): boolean {
    return this.#isAnswering() || this.#line.leftMs > 0;
  }

  /** Returns true when words over an answer are the caller's turn. Sound too short to pause the answer counts as noise. */
  #isReply(utterance: Utterance, text: string): boolean {
    const { isAtQuestion, loudMs, state } = utterance;
    const { ignoreWords, isOn } = this.#rules;
    if (state === 'paused' && isInterruption(text, this.#rules, loudMs)) return true;
    if (isOn && isStop(text, ignoreWords)) return true;
    if (isOn && isArticulated(utterance) && isOneWord(text, this.#rules)) return true;
    // A sign of listening does not take back what follows the answer, such as a hang-up.
    if (this.#line.isEndAwaited) return false;
    if (state === 'speaking' && !isShortAnswer(text)) return false;
    const isOver = !this.#isAnswering() && this.#line.leftMs <= REST_MS;
    return isOver || isAtQuestion || this.#isAtQuestion();
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

  /** Interrupts the answer. Its waiting callback is dropped first, because the interruption would run it. */
  #stop(): void {
    this.#line.forgetAfterPlayed();
    this.#interrupt();
  }

  /** Resumes the line, unless another paused utterance still waits for its words. */
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

/**
 * Returns true for a sound with consonants and a vowel, as words have. Hums and "uh-huh" lack such consonants, coughs lack a
 * vowel.
 */
const isArticulated = ({ consonantMs, vowelMs }: Utterance): boolean =>
  consonantMs >= CONSONANT_MS && vowelMs >= VOWEL_MS && consonantMs <= 2 * vowelMs;

/** Returns the whole words with which both texts begin. */
function sameBeginning(one: string, other: string): string {
  const [words, others] = [one.split(' '), other.split(' ')];
  const differs = words.findIndex((word, at) => word !== others[at]);
  return words.slice(0, differs === -1 ? words.length : differs).join(' ');
}
