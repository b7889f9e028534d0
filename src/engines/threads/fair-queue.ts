import { EngineBusy } from '../engine.ts';

/** The agent that an engine works for; undefined for the server itself. */
type EngineUser = number | undefined;

export type FairQueueBounds = {
  /** Number of pieces of work in progress at a time. */
  readonly atOnce: number;
  /** Number of one user's pieces in progress at a time (default: the number of all users' pieces). */
  readonly atOncePerUser?: number;
  /** Number of pieces of work that may wait, of all users and of one user. */
  readonly waiting: number;
  readonly waitingPerUser: number;
};

const NOBODY = Symbol('nobody');

/** Queue of the work for one engine. */
export interface FairQueue {
  /**
   * Runs a piece of work when its turn has come. Rejects with EngineBusy when the queue is full, or with the error of the work.
   */
  run<T>(user: EngineUser, work: () => Promise<T>): Promise<T>;
}

/**
 * Gives users turns one after the other, however much work each user submits. A piece of work waits for at most one piece of
 * each other user, and for the earlier pieces of its own user.
 */
export function createFairQueue(bounds: FairQueueBounds): FairQueue {
  /** Queued work by user, in the order of the users' next turns. After a turn, a user with more work moves to the end. */
  const lines = new Map<EngineUser, (() => void)[]>();
  const { atOncePerUser = bounds.atOnce } = bounds;
  /** Number of pieces of work in progress, for each user that has any. */
  const busy = new Map<EngineUser, number>();
  let waiting = 0;
  let underWay = 0;

  /** Returns the user whose turn is next. Skips only users with work in progress, of whom there are at most `atOnce`. */
  function findNext(): EngineUser | typeof NOBODY {
    for (const user of lines.keys()) if ((busy.get(user) ?? 0) < atOncePerUser) return user;
    return NOBODY;
  }

  function serveNext() {
    if (underWay >= bounds.atOnce) return;
    const user = findNext();
    if (user === NOBODY) return;
    const line = lines.get(user) ?? [];
    lines.delete(user);
    const begin = line.shift();
    if (line.length > 0) lines.set(user, line);
    waiting--;
    underWay++;
    busy.set(user, (busy.get(user) ?? 0) + 1);
    begin?.();
  }

  function end(user: EngineUser) {
    underWay--;
    const left = (busy.get(user) ?? 1) - 1;
    if (left > 0) busy.set(user, left);
    else busy.delete(user);
    serveNext();
  }

  function wait(user: EngineUser): Promise<void> {
    const line = lines.get(user) ?? [];
    if (waiting >= bounds.waiting || line.length >= bounds.waitingPerUser) throw new EngineBusy(1);
    return new Promise((resolve) => {
      line.push(resolve);
      lines.set(user, line);
      waiting++;
      serveNext();
    });
  }

  return {
    async run(user, work) {
      await wait(user);
      try {
        return await work();
      } finally {
        end(user);
      }
    },
  };
}
