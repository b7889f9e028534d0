import type { HttpResponse } from 'uWebSockets.js';
import { soon } from '../../kernel/clock.ts';
import { turnForLongWork } from '../../kernel/long-work.ts';

/**
 * Pauses a connection between the reads of a request body. Within one turn of the event loop uSockets reads a socket again and
 * again while its client fills the buffer, and a pause takes effect only after that turn. Therefore each turn resumes one
 * connection, and the server only copies the bytes that it reads in that turn.
 */
export class ReadPace {
  readonly #res: HttpResponse;
  #isPaused = false;
  #isHeld = false;
  #isTurnAsked = false;
  #isOver = false;

  constructor(res: HttpResponse) {
    this.#res = res;
  }

  /** Pauses at the end of this turn, unless the last byte arrives before. */
  pause(): void {
    if (this.#isOver || this.#isPaused) return;
    this.#isPaused = true;
    soon(() => this.#hold());
  }

  /** Resumes in a turn in which no other paused connection resumes, unless `mayResume` returns false then. */
  resumeInTurn(mayResume: () => boolean = always): void {
    if (!this.#isPaused || this.#isTurnAsked) return;
    this.#isTurnAsked = true;
    void turnForLongWork().then(() => {
      this.#isTurnAsked = false;
      if (mayResume()) this.#resume();
    });
  }

  /**
   * Notes the last byte. The library stops its timer of 10 s with the last byte, and every `resume` starts the timer again: a
   * connection is never paused after its last byte, because its `resume` would close the connection under an answer that takes
   * over 10 s.
   */
  lastByteCame(): void {
    this.#isPaused = false;
  }

  /**
   * Resumes the connection at once and pauses it no more. Must be called before the answer is written, which makes the response
   * invalid.
   */
  letGo(): void {
    this.#resume();
    this.#isOver = true;
  }

  /** Stops all use of the connection: it is gone, or its response is written. */
  end(): void {
    this.#isOver = true;
  }

  #hold(): void {
    if (this.#isOver || !this.#isPaused) return;
    this.#isHeld = true;
    this.#res.pause();
  }

  #resume(): void {
    this.#isPaused = false;
    if (this.#isOver || !this.#isHeld) return;
    this.#isHeld = false;
    this.#res.resume();
  }
}

const always = () => true;
