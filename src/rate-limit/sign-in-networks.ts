import { RecentMap } from '../kernel/recent-map.ts';
import { RATE_LIMITS } from './limits.ts';

/**
 * Remembers the network at which the owner of an account first signed in to this process, for the 50,000 accounts used last.
 * One machine can make any number of free accounts: they share the bounds of this network.
 */
export class SignInNetworks {
  readonly #networks = new RecentMap<string, string>(RATE_LIMITS.addressesCounted);

  note(accountId: string, network: string): void {
    if (this.#networks.get(accountId) === undefined) this.#networks.set(accountId, network);
  }

  networkOf(accountId: string): string | undefined {
    return this.#networks.get(accountId);
  }
}
