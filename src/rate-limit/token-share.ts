import { RATE_LIMITS } from './limits.ts';
import type { SharedWindow } from './rate-store.ts';

/**
 * Share of one process in a bucket's shared window. It claims a small part of the limit at a time, and the next before that is
 * used up; a part of one token is claimed when it is requested, so small limits are exact.
 */
export class TokenShare {
  readonly bucket: string;
  readonly limit: number;
  readonly #size: number;
  #tokens = 0;
  #used = 0;
  #leftForAll: number;
  #isSpent = false;
  #windowId: string | undefined;
  #endsMs = 0;

  constructor(bucket: string, limit: number) {
    this.bucket = bucket;
    this.limit = limit;
    this.#size = Math.max(1, Math.floor(limit * RATE_LIMITS.window.sharePart));
    this.#leftForAll = limit;
  }

  /** End of the window, on the clock of the callers' times. */
  get endsMs(): number {
    return this.#endsMs;
  }

  /** Tokens left in the window, by the knowledge of this process. */
  get remaining(): number {
    return Math.max(0, Math.min(this.limit - this.#used, this.#leftForAll + this.#tokens));
  }

  /** Returns true when the next part should be claimed. */
  get isLow(): boolean {
    return !this.#isSpent && this.#tokens < Math.floor(this.#size / 2);
  }

  /** Takes a token. False when the window has nothing left; undefined when only the shared window can decide. */
  take(nowMs: number): boolean | undefined {
    if (nowMs >= this.#endsMs) this.#close();
    if (this.#tokens === 0) return this.#isSpent ? false : undefined;
    this.#tokens -= 1;
    this.#used += 1;
    return true;
  }

  /**
   * Takes a token as if there were no other process, while the shared window is unavailable. False when the limit is reached.
   */
  takeAlone(nowMs: number): boolean {
    if (nowMs >= this.#endsMs) {
      this.#close();
      this.#endsMs = nowMs + RATE_LIMITS.window.lifeMs;
    }
    if (this.#used >= this.limit) return false;
    this.#used += 1;
    return true;
  }

  /** Returns the number of tokens to claim while `waiting` requests wait. */
  need(waiting: number): number {
    return Math.max(this.#size, waiting);
  }

  /** Applies the result of a claim. Failed claims count, too: a claim that came too late for the window gets nothing. */
  receive(window: SharedWindow, claimed: number, nowMs: number): void {
    if (window.windowId !== this.#windowId) this.#close();
    const before = window.taken - claimed;
    const granted = Math.min(claimed, Math.max(0, this.limit - before));
    this.#windowId = window.windowId;
    this.#endsMs = nowMs + window.leftMs;
    this.#tokens += granted;
    this.#leftForAll = Math.max(0, this.limit - window.taken);
    this.#isSpent = granted < claimed;
  }

  #close(): void {
    this.#tokens = 0;
    this.#used = 0;
    this.#leftForAll = this.limit;
    this.#isSpent = false;
    this.#windowId = undefined;
  }
}
