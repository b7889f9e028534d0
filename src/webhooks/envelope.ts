import { BRAND } from '../kernel/ids.ts';

/**
 * Builds the body of a delivery: the event's name, its members at the top level, its position in the order of all events, and
 * its time.
 */
export const envelopeOf = (event: {
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /**
   * Position in the order of all events. Positions of events of one subject rise, so a receiver can recognise an outdated
   * event. Null: a test.
   */
  readonly position: bigint | null;
  readonly createdAt: Date;
}): Readonly<Record<string, unknown>> => ({
  event: event.name,
  ...event.payload,
  ...(event.position !== null && { sequence: Number(event.position) }),
  firedAt: event.createdAt.toISOString(),
});

/** Payload of a test delivery. It names an agent that does not exist. */
export const TEST_PAYLOAD = {
  message: 'A test of this webhook. Its signature is made as that of every event.',
  agentWalletAddress: '0x0000000000000000000000000000000000000000',
  sentBy: BRAND.ownedBy,
} as const;
