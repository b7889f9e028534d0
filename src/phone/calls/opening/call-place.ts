/** The methods of a live call with which its process stops it. */
type StoppableCall = { drain(): void; abandon(): void };

/**
 * Place of a call among the sessions of its process, taken before its money is held. A stop during the opening of the call is
 * delivered once the call is open, so that a caller who was just answered is handed over, too.
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
