import { BRAND } from '../kernel/ids.ts';

/** An event as it goes out: its name, its members at the top level, its place in the order of all events, and its time. */
export const envelopeOf = (event: {
  readonly name: string;
  readonly payload: Readonly<Record<string, unknown>>;
  /** Events of one subject rise in it, so that a receiver can tell an old one. Null: a test. */
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
