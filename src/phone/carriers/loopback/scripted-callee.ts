import { type Callee, FRAME_BYTES } from './loopback-line.ts';

/** Number of 20 ms frames that the agent must be silent before the callee answers. */
const PATIENCE_FRAMES = 40;
/** Number of 20 ms frames of silence after which the callee speaks when the agent has said nothing. */
const SILENCE_FRAMES = 250;
const FRAME_MS = 20;

/** One line of the callee, as mu-law at 8 kHz. */
export type ScriptedLine =
  | Uint8Array
  /** A line that interrupts the agent, once the callee has heard `cutsInAfterMs` of the answer. */
  | { readonly sound: Uint8Array; readonly cutsInAfterMs: number };

/**
 * A callee who says one line after another, each once the agent has spoken and fallen silent, and hangs up after the last
 * answer. A line with `cutsInAfterMs` does not wait for the silence.
 */
export class ScriptedCallee implements Callee {
  readonly #lines: ScriptedLine[];
  #saying: Uint8Array | undefined;
  #at = 0;
  #quietFrames = 0;
  #heardFrames = 0;
  #isGone = false;

  constructor(lines: readonly ScriptedLine[]) {
    this.#lines = [...lines];
  }

  get isGone(): boolean {
    return this.#isGone;
  }

  hear(frame: Uint8Array | undefined): void {
    if (frame === undefined) this.#quietFrames++;
    else {
      this.#quietFrames = 0;
      this.#heardFrames++;
    }
  }

  say(): Uint8Array | undefined {
    if (this.#saying === undefined && this.#isTurn()) this.#begin();
    if (this.#saying === undefined) return undefined;
    const frame = new Uint8Array(FRAME_BYTES).fill(0xff);
    frame.set(this.#saying.subarray(this.#at, this.#at + FRAME_BYTES));
    this.#at += FRAME_BYTES;
    if (this.#at >= this.#saying.length) {
      this.#saying = undefined;
      this.#heardFrames = 0;
      this.#quietFrames = 0;
    }
    return frame;
  }

  #isTurn(): boolean {
    const [next] = this.#lines;
    if (next !== undefined && 'sound' in next && this.#heardFrames > 0) {
      return this.#heardFrames * FRAME_MS >= next.cutsInAfterMs;
    }
    return this.#quietFrames > (this.#heardFrames > 0 ? PATIENCE_FRAMES : SILENCE_FRAMES);
  }

  #begin(): void {
    const line = this.#lines.shift();
    this.#saying = line !== undefined && 'sound' in line ? line.sound : line;
    this.#at = 0;
    this.#isGone = line === undefined;
  }
}
