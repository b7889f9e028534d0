import type { StopSignal } from './stop-signal.ts';

/**
 * Signal that fires once. Light, because every request and every turn of a voice session has its own. Calls a listener once for
 * each registration, unlike the platform's `AbortSignal`.
 */
export class LightSignal implements StopSignal {
  readonly #listeners: (() => void)[] = [];
  #reason: Error | undefined;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  /** Returns the same reason as the platform's signals, which readers of an `AbortSignal` know. */
  get reason(): Error | undefined {
    return this.#reason;
  }

  addEventListener(_type: 'abort', listener: () => void): void {
    if (!this.aborted) this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    const index = this.#listeners.indexOf(listener);
    if (index !== -1) this.#listeners.splice(index, 1);
  }

  fire(): void {
    if (this.aborted) return;
    this.#reason = new DOMException('This operation was aborted', 'AbortError');
    for (let next = this.#listeners.shift(); next !== undefined; next = this.#listeners.shift()) {
      try {
        next();
      } catch (error) {
        // As with an `AbortSignal`, the other listeners are called when a listener throws.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
