import type { Json } from '../../kernel/json.ts';

/** Response whose stream is open in this process. */
type Live = {
  readonly agentId: number;
  /** Returns the current state of the response. */
  readonly shown: () => Json;
  readonly cancel: () => void;
};

type Entry = Live & {
  /** Resolves when the response is charged and stored. Undefined while the upstream is still sending. */
  ending: Promise<unknown> | undefined;
  isRemoved: boolean;
};

/** Responses that are being streamed to clients of this process, one for each open stream. */
export class LiveResponses {
  readonly #live = new Map<string, Entry>();

  add(id: string, { agentId, cancel, shown }: Live): void {
    this.#live.set(id, { agentId, shown, cancel, ending: undefined, isRemoved: false });
  }

  /**
   * Runs `end`, which charges and keeps a response, and then forgets the stream. A reader always finds either the stream or the
   * kept response.
   */
  async ending<T>(id: string, end: () => Promise<T>): Promise<T> {
    const live = this.#live.get(id);
    const ended = end();
    if (live !== undefined) live.ending = ended;
    try {
      return await ended;
    } finally {
      this.#live.delete(id);
    }
  }

  /** Returns the current state of a response. Undefined when the agent has no such stream in this process. */
  find(agentId: number, id: string): Json | undefined {
    return this.#of(agentId, id)?.shown();
  }

  /**
   * Stops the stream of a response, which then ends as cancelled. Undefined when the agent has no such stream in this process;
   * 'ended' when the response is already whole.
   */
  cancel(agentId: number, id: string): Json | 'ended' | undefined {
    const live = this.#of(agentId, id);
    if (live === undefined) return undefined;
    if (live.ending !== undefined) return 'ended';
    const shown = { ...live.shown(), status: 'cancelled' };
    live.cancel();
    return shown;
  }

  /**
   * Prevents a response from being stored, while its stream continues. Resolves to false when the agent has no such stream in
   * this process. Waits for a row that is being written, which the caller then deletes.
   */
  async remove(agentId: number, id: string): Promise<boolean> {
    const live = this.#of(agentId, id);
    if (live === undefined) return false;
    live.isRemoved = true;
    await live.ending?.catch(() => {});
    return true;
  }

  /** Returns true when the agent has deleted the response while it streamed. */
  isRemoved(id: string): boolean {
    return this.#live.get(id)?.isRemoved === true;
  }

  #of(agentId: number, id: string): Entry | undefined {
    const live = this.#live.get(id);
    return live?.agentId === agentId && !live.isRemoved ? live : undefined;
  }
}
