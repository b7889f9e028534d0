import type { ConnectionBounds } from './connections.ts';
import type { CheckedDestination } from './destination-guard.ts';
import { FairShares, type GiveBack, takeFairly } from './fair-shares.ts';
import { SendFailed } from './send-failed.ts';

/** Divides the connections in use or being opened among the askers: all connections, and those to one origin. */
export class ConnectionShares {
  readonly #all: FairShares;
  /** Shares by origin, only of origins with connections in use. */
  readonly #byOrigin = new Map<string, FairShares>();
  readonly #perOrigin: number;

  constructor({ perOrigin, total }: Pick<ConnectionBounds, 'perOrigin' | 'total'>) {
    this.#all = new FairShares(total);
    this.#perOrigin = perOrigin;
  }

  /** Takes a connection's place for the asker. Rejects with SendFailed, nothing sent, when the asker has used up its share. */
  async take({ asker, origin }: CheckedDestination): Promise<GiveBack> {
    const place = await takeFairly(asker, (hasMoney) => {
      const ofOrigin = this.#byOrigin.get(origin) ?? new FairShares(this.#perOrigin);
      const here = ofOrigin.take(asker, hasMoney);
      if (here === undefined) return undefined;
      const anywhere = this.#all.take(asker, hasMoney);
      if (anywhere === undefined) here();
      else this.#byOrigin.set(origin, ofOrigin);
      return anywhere && (() => this.#giveBack(origin, ofOrigin, [here, anywhere]));
    });
    if (place === undefined) throw new SendFailed('busy', { beforeBytes: true });
    return place;
  }

  #giveBack(origin: string, ofOrigin: FairShares, places: readonly GiveBack[]): void {
    for (const giveBack of places) giveBack();
    if (ofOrigin.isIdle && this.#byOrigin.get(origin) === ofOrigin) this.#byOrigin.delete(origin);
  }
}
