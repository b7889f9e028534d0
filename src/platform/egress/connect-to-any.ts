import type { Socket } from 'node:net';
import type { Clock } from '../../kernel/clock.ts';
import type { CheckedDestination } from './destination-guard.ts';
import { EGRESS_LIMITS } from './limits.ts';
import { openSocket } from './open-socket.ts';
import { SendFailed } from './send-failed.ts';

export type ConnectBounds = {
  /** Deadline on the monotonic clock, for all addresses together. */
  readonly untilMs: number;
  readonly signal: AbortSignal;
  readonly clock: Clock;
  /** Certificates (PEM) to trust in place of the system's. */
  readonly ca: string | undefined;
};

/** Connects to the first address of the destination that accepts. Rejects with SendFailed before any byte is sent. */
export async function connectToAny(
  { addresses, origin }: CheckedDestination,
  { untilMs, signal, clock, ca }: ConnectBounds,
): Promise<{ readonly socket: Socket; readonly address: string }> {
  const tried = addresses.slice(0, EGRESS_LIMITS.address.connectAttempts);
  let failure: unknown = new SendFailed('unreachable', { beforeBytes: true });
  for (const [i, address] of tried.entries()) {
    // An address that does not answer leaves the other addresses their share of the time.
    const ms = (untilMs - clock.monotonicMs()) / (tried.length - i);
    try {
      const socket = await openSocket({ address, origin, ca }, { ms, signal, clock });
      return { socket, address };
    } catch (error) {
      failure = error;
      if (signal.aborted) break;
    }
  }
  throw failure;
}
