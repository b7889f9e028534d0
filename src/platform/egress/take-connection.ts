import { type ConnectBounds, connectToAny } from './connect-to-any.ts';
import type { Connection } from './connection.ts';
import type { Connections, Lane } from './connections.ts';
import type { CheckedDestination } from './destination-guard.ts';
import { SendFailed } from './send-failed.ts';

/** Connection that no other call uses, and the lane that it goes back to. */
export type TakenConnection = { readonly connection: Connection; readonly lane: Lane };

function lanesOf(
  { origin, addresses }: CheckedDestination,
  maxHeaderBytes: number,
): readonly Lane[] {
  return addresses.map((address) => ({ origin, address, maxHeaderBytes }));
}

/** Takes a kept connection to any of the destination's addresses. Undefined when there is none. */
export async function reuseConnection(
  connections: Connections,
  destination: CheckedDestination,
  maxHeaderBytes: number,
): Promise<TakenConnection | undefined> {
  for (const lane of lanesOf(destination, maxHeaderBytes)) {
    const connection = await connections.reuse(lane);
    if (connection !== undefined) return { connection, lane };
  }
  return undefined;
}

export type OpenBounds = ConnectBounds & { readonly maxHeaderBytes: number };

/** Opens a new connection to the first address that accepts it. Rejects with SendFailed; nothing was sent then. */
export async function openConnection(
  connections: Connections,
  destination: CheckedDestination,
  { maxHeaderBytes, ...bounds }: OpenBounds,
): Promise<TakenConnection> {
  const { origin } = destination;
  if (!connections.takePlace(origin)) throw new SendFailed('busy', { beforeBytes: true });
  try {
    const { address, socket } = await connectToAny(destination, bounds);
    const lane = { origin, address, maxHeaderBytes };
    return { connection: connections.add(lane, socket), lane };
  } catch (error) {
    connections.givePlace(origin);
    throw error;
  }
}
