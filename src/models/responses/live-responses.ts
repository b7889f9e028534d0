import type { Json } from '../../kernel/json.ts';

/** A response whose stream is open in this process. */
type Live = {
  readonly agentId: number;
  /** The response as it stands. */
  readonly shown: () => Json;
  readonly cancel: () => void;
};

type Entry = Live & {
  /** Set once nothing more is bought: it is settled and kept. Resolves when that is done. */
  ending: Promise<unknown> | undefined;
  isRemoved: boolean;
};

/** The responses that are on their way to clients of this process: one for each open stream. */
export class LiveResponses {
  readonly #live = new Map<string, Entry>();

  add(id: string, { agentId, cancel, shown }: Live): void {
    this.#live.set(id, { agentId, shown, cancel, ending: undefined, isRemoved: false });
  }

  /** Ends one by `end`, which settles and keeps it. It is found until that is done, so that it is found at all times. */
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

  /** A response of the agent as it stands; undefined where it has no such stream here. */
  find(agentId: number, id: string): Json | undefined {
    return this.#of(agentId, id)?.shown();
  }

  /**
   * Stops one, whose stream then ends as one that was cancelled. Undefined: the agent has no such stream here; 'ended': it has
   * come whole already.
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
   * Its stream goes on, and it is not kept. Resolves with true where that is so; one that is being kept already is waited for,
   * and is to be deleted then.
   */
  async remove(agentId: number, id: string): Promise<boolean> {
    const live = this.#of(agentId, id);
    if (live === undefined) return false;
    live.isRemoved = true;
    await live.ending?.catch(() => {});
    return true;
  }

  /** Whether its owner has deleted it while it came. */
  isRemoved(id: string): boolean {
    return this.#live.get(id)?.isRemoved === true;
  }

  #of(agentId: number, id: string): Entry | undefined {
    const live = this.#live.get(id);
    return live?.agentId === agentId && !live.isRemoved ? live : undefined;
  }
}
