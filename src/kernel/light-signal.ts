import type { StopSignal } from './stop-signal.ts';

/**
 * Fires once. Every request and every turn of a voice session has one, so it is as light as that can be. Unlike the platform's,
 * it calls a listener as often as it was added.
 */
export class LightSignal implements StopSignal {
  readonly #listeners: (() => void)[] = [];
  #reason: Error | undefined;

  get aborted(): boolean {
    return this.#reason !== undefined;
  }

  /** As the platform gives it, which readers of an `AbortSignal` know. */
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
        // As an `AbortSignal` does: the other listeners are called although one of them throws.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }
}
