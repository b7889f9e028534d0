import type { Clock } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Connection } from './connection.ts';
import type { Connections, Lane } from './connections.ts';
import type { Destination } from './destination-guard.ts';
import { openSocket } from './open-socket.ts';
import { SendFailed } from './send-failed.ts';

/** A connection that no other call uses, and where it goes back to. */
export type Taken = { readonly connection: Connection; readonly lane: Lane };

function lanesOf({ origin, addresses }: Destination, maxHeaderBytes: number): readonly Lane[] {
  return addresses.map((address) => ({ origin, address, maxHeaderBytes }));
}

/** One that is kept for any of the destination's addresses. */
export async function reuseConnection(
  connections: Connections,
  destination: Destination,
  maxHeaderBytes: number,
): Promise<Taken | undefined> {
  for (const lane of lanesOf(destination, maxHeaderBytes)) {
    const connection = await connections.reuse(lane);
    if (connection !== undefined) return { connection, lane };
  }
  return undefined;
}

export type OpenBounds = {
  readonly maxHeaderBytes: number;
  /** By the monotonic clock, for all addresses together. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  readonly ca: string | undefined;
};

/** A new one, to the first address that takes it. Rejects with SendFailed, nothing sent. */
export async function openConnection(
  connections: Connections,
  destination: Destination,
  { maxHeaderBytes, untilMs, signal, clock, ca }: OpenBounds,
): Promise<Taken> {
  const { origin } = destination;
  if (!connections.takePlace(origin)) throw new SendFailed('busy', { beforeBytes: true });
  const lanes = lanesOf(destination, maxHeaderBytes).slice(0, LIMITS.outboundConnectAttempts);
  let failure: unknown = new SendFailed('unreachable', { beforeBytes: true });
  for (const [i, lane] of lanes.entries()) {
    // An address that does not answer leaves the others their share of the time.
    const ms = (untilMs - clock.monotonicMs()) / (lanes.length - i);
    try {
      const socket = await openSocket({ address: lane.address, origin, ca }, { ms, signal, clock });
      return { connection: connections.add(lane, socket), lane };
    } catch (error) {
      failure = error;
      if (signal.aborted) break;
    }
  }
  connections.givePlace(origin);
  throw failure;
}
