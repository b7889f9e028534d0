import type { Callee } from '../../src/phone/carriers/loopback/loopback-line.ts';

const FRAME_BYTES = 160;
/** How long the other side is silent before the person speaks, in frames of 20 ms. */
const PATIENCE_FRAMES = 10;
/**
 * A person who asks one thing and hangs up once an answer to it is heard. It waits for as long as the answer takes, so
 * that a busy machine changes the time of a test and not its outcome.
 */
export class AskingCallee implements Callee {
  readonly #question: Uint8Array;
  readonly #waitsForGreeting: boolean;
  readonly #answerFrames: number;
  #at = 0;
  #quietFrames = 0;
  #heardFrames = 0;

  /** `question`: mu-law at 8 kHz. The person hangs up after `answerFrames` of the answer. */
  constructor(question: Uint8Array, { waitsForGreeting = false, answerFrames = 25 } = {}) {
    this.#question = question;
    this.#waitsForGreeting = waitsForGreeting;
    this.#answerFrames = answerFrames;
  }

  get isGone(): boolean {
    return this.#hasAsked && this.#heardFrames >= this.#answerFrames;
  }

  get #hasAsked(): boolean {
    return this.#at >= this.#question.length;
  }

  hear(frame: Uint8Array | undefined): void {
    if (frame === undefined) {
      this.#quietFrames++;
      return;
    }
    this.#quietFrames = 0;
    this.#heardFrames++;
  }

  say(): Uint8Array | undefined {
    const isEarly = this.#at === 0 && !this.#isTurn();
    if (isEarly || this.#hasAsked) return undefined;
    const frame = new Uint8Array(FRAME_BYTES).fill(0xff);
    frame.set(this.#question.subarray(this.#at, this.#at + FRAME_BYTES));
    this.#at += FRAME_BYTES;
    this.#heardFrames = 0;
    return frame;
  }

  #isTurn(): boolean {
    const isGreeted = !this.#waitsForGreeting || this.#heardFrames > 0;
    return isGreeted && this.#quietFrames > PATIENCE_FRAMES;
  }
}
