import { EngineBusy } from '../engine.ts';

/** The agent that an engine works for; undefined is the server itself. */
type EngineUser = number | undefined;

export type FairLineBounds = {
  /** Pieces of work that are under way at a time. */
  readonly atOnce: number;
  /** That wait, of all users and of one. */
  readonly waiting: number;
  readonly waitingPerUser: number;
};

/** The line before an engine. */
export interface FairLine {
  /** Does a piece of work when its turn has come. Rejects with EngineBusy where too many wait, and as the work does. */
  run<T>(user: EngineUser, work: () => Promise<T>): Promise<T>;
}

/**
 * Lets users have turns one after the other, however much each of them asks for: a piece of work waits for one piece of
 * each other user at most, and for what its own user has asked before.
 */
export function createFairLine(bounds: FairLineBounds): FairLine {
  /** In the order of their next turns. Only users that wait: a user that has had a turn goes to the end. */
  const lines = new Map<EngineUser, (() => void)[]>();
  let waiting = 0;
  let underWay = 0;

  function serveNext() {
    const next = lines.entries().next();
    if (next.done === true || underWay >= bounds.atOnce) return;
    const [user, line] = next.value;
    lines.delete(user);
    const begin = line.shift();
    if (line.length > 0) lines.set(user, line);
    waiting--;
    underWay++;
    begin?.();
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
        underWay--;
        serveNext();
      }
    },
  };
}
