import type { HttpResponse } from 'uWebSockets.js';
import { turnForLongWork } from '../../kernel/long-work.ts';

/**
 * Pauses a connection between the reads of a request body. Within one turn of the event loop uSockets reads the same
 * socket again and again while its client keeps the buffer full, and a pause takes effect only after that. So one
 * connection at a time resumes in a turn, and the server only copies what it reads there.
 */
export class ReadPace {
  readonly #res: HttpResponse;
  #isPaused = false;
  #isTurnAsked = false;
  #isOver = false;

  constructor(res: HttpResponse) {
    this.#res = res;
  }

  pause(): void {
    if (this.#isOver || this.#isPaused) return;
    this.#isPaused = true;
    this.#res.pause();
  }

  /** Resumes in a turn that no other paused connection has, unless `mayResume` says no by then. */
  resumeInTurn(mayResume: () => boolean = always): void {
    if (!this.#isPaused || this.#isTurnAsked) return;
    this.#isTurnAsked = true;
    void turnForLongWork().then(() => {
      this.#isTurnAsked = false;
      if (mayResume()) this.#resume();
    });
  }

  /** Resumes at once and pauses no more. Call it before the answer is written: after that the response is invalid. */
  letGo(): void {
    this.#resume();
    this.#isOver = true;
  }

  /** Never touches the connection again: it is gone, or its response is written. */
  end(): void {
    this.#isOver = true;
  }

  #resume(): void {
    if (this.#isOver || !this.#isPaused) return;
    this.#isPaused = false;
    this.#res.resume();
  }
}

const always = () => true;
