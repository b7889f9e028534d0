import type { HttpResponse } from 'uWebSockets.js';
import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import { RATE_LIMITS } from '../../rate-limit/limits.ts';
import { HTTP_LIMITS } from '../limits.ts';
import { networkOf } from '../route/client-address.ts';
import type { Census } from './connection-census.ts';

export type ConnectionCaps = { readonly most: number; readonly perNetwork: number };

type Deps = {
  readonly caps: ConnectionCaps;
  /** Returns true when the peer's address is one client; false for a proxy of many clients. */
  readonly isClient: (remote: string) => boolean;
  readonly takeCensus: () => Promise<Census>;
  readonly clock: Clock;
  readonly log: Log;
};

/** Connections of one client network: the number that the last census counted, and the number opened since. */
type Holding = { counted: number; openedSince: number };

/**
 * Bounds open connections, in sum and by client network. A connection beyond a bound is closed as it opens, which costs no more
 * than accepting it: a server out of descriptors cannot even close it, and spends its whole time finding out. The library does
 * not report whose connection closed, so that only an upper bound of a network's number is known here. When the upper bound
 * nears the cap, the true numbers are read from the kernel.
 */
export class ConnectionGate {
  readonly #deps: Deps;
  readonly #holdings = new RecentMap<string, Holding>(RATE_LIMITS.addressesCounted);
  #open = 0;
  #refused = 0;
  #isCounting = false;
  #nextCensusMs = 0;
  #canCount = true;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  get open(): number {
    return this.#open;
  }

  /** Connections that were closed as they opened. */
  get refused(): number {
    return this.#refused;
  }

  /**
   * Handles a change that the library's filter reports: a connection opens (`change` is 1) or closes without having become a
   * WebSocket (-1).
   */
  changed(res: HttpResponse, change: number): void {
    if (change < 0) {
      this.#open -= 1;
      return;
    }
    this.#open += 1;
    const remote = Buffer.from(res.getRemoteAddressAsText()).toString('latin1');
    if (this.#open <= this.#deps.caps.most && this.#admits(remote)) return;
    this.#refused += 1;
    res.close();
  }

  /** Counts a closed WebSocket, which the library does not report to the filter. */
  upgradedClosed(): void {
    this.#open -= 1;
  }

  #admits(remote: string): boolean {
    const { caps, isClient } = this.#deps;
    if (!this.#canCount || !isClient(remote)) return true;
    const network = networkOf(remote);
    const holding = this.#holdings.get(network) ?? { counted: 0, openedSince: 0 };
    this.#holdings.set(network, holding);
    holding.openedSince += 1;
    const atMost = holding.counted + holding.openedSince;
    // Well before the cap: a client that opens and closes many connections is not refused for connections that are closed.
    if (atMost > caps.perNetwork / 2) void this.#count();
    return atMost <= caps.perNetwork;
  }

  async #count(): Promise<void> {
    const { clock, log, takeCensus } = this.#deps;
    if (this.#isCounting || clock.monotonicMs() < this.#nextCensusMs) return;
    this.#isCounting = true;
    const before = new Map(
      [...this.#holdings].map(([network, { openedSince }]) => [network, openedSince]),
    );
    let restMs: number = HTTP_LIMITS.connection.censusEveryMs;
    try {
      const { open, lines } = await takeCensus();
      restMs = Math.max(restMs, lines * HTTP_LIMITS.connection.censusRestMsPerLine);
      for (const [network, holding] of this.#holdings) {
        holding.counted = open.get(network) ?? 0;
        holding.openedSince -= before.get(network) ?? 0;
      }
    } catch (err) {
      this.#canCount = false;
      log.warn({ err }, 'connections are not counted by client: this system does not list them');
    }
    this.#isCounting = false;
    this.#nextCensusMs = clock.monotonicMs() + restMs;
  }
}

/** Returns the caps for a number of file descriptors, with descriptors left for files, the database and upstreams. */
export function connectionCaps(descriptors: number): ConnectionCaps {
  const most = Math.min(
    HTTP_LIMITS.connection.most,
    Math.floor(descriptors * HTTP_LIMITS.connection.descriptors),
  );
  return { most, perNetwork: Math.min(HTTP_LIMITS.connection.perNetwork, Math.ceil(most / 2)) };
}

/** Returns the number of files and sockets that this process may have open. */
export function descriptorLimit(): number {
  const report = process.report?.getReport() as
    | { userLimits?: { open_files?: { soft?: number | string } } }
    | undefined;
  const soft = Number(report?.userLimits?.open_files?.soft);
  return Number.isFinite(soft) ? soft : Number.POSITIVE_INFINITY;
}
