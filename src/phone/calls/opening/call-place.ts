/** The methods of a live call with which its process stops it. */
type StoppableCall = { drain(): void; abandon(): void };

/**
 * The place of a call among the sessions of its process, taken before its money is held. A stop that comes while the call
 * is being opened reaches it once it is open: a caller who was just answered is handed over like any other.
 */
export class CallPlace implements StoppableCall {
  #call: StoppableCall | undefined;
  #stop: 'drain' | 'abandon' | undefined;

  opened(call: StoppableCall): void {
    this.#call = call;
    if (this.#stop !== undefined) call[this.#stop]();
  }

  drain(): void {
    this.#stop ??= 'drain';
    this.#call?.drain();
  }

  abandon(): void {
    this.#stop = 'abandon';
    this.#call?.abandon();
  }
}
