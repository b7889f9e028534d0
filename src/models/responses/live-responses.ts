import type { Json } from '../../kernel/json.ts';

/** A response whose stream is open in this process. */
type Live = {
  readonly agentId: number;
  /** The response as it stands. */
  readonly shown: () => Json;
  readonly cancel: () => void;
};

/** The responses that are on their way to clients of this process: one for each open stream. */
export class LiveResponses {
  readonly #live = new Map<string, Live>();

  add(id: string, live: Live): void {
    this.#live.set(id, live);
  }

  delete(id: string): void {
    this.#live.delete(id);
  }

  /** A response of the agent as it stands; undefined where it has no such stream here. */
  find(agentId: number, id: string): Json | undefined {
    return this.#of(agentId, id)?.shown();
  }

  /** Stops one, whose stream then ends as one that was cancelled. Undefined: the agent has no such stream here. */
  cancel(agentId: number, id: string): Json | undefined {
    const live = this.#of(agentId, id);
    if (live === undefined) return undefined;
    const shown = { ...live.shown(), status: 'cancelled' };
    live.cancel();
    return shown;
  }

  #of(agentId: number, id: string): Live | undefined {
    const live = this.#live.get(id);
    return live?.agentId === agentId ? live : undefined;
  }
}
