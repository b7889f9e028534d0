import type { ChargeRow } from '../../src/ledger/rules/companion.ts';
import type { NewPayout, NewReservation, ReservationMove } from '../../src/ledger/rules/payment.ts';
import type { SpendFacts } from '../../src/policy/policy.ts';
import { FACTS } from './spending.ts';

const WALLET = `0x${'a1'.repeat(20)}`;
const VENDOR = `0x${'b2'.repeat(20)}`;
const OWNER = `0x${'c3'.repeat(20)}`;

/** The nonce that a name stands for: another one for each name. */
export const nonceOf = (name: string): string =>
  `0x${Buffer.from(name).toString('hex').padStart(64, '0')}`;

/** A signed payment for an API call; its nonce follows from the name of its hold. */
export const reservationOf = (
  name: string,
  change: Partial<NewReservation> = {},
): NewReservation => ({
  nonce: nonceOf(name),
  wallet: WALLET,
  payee: VENDOR,
  validBefore: 1_900_000_090,
  signature: `0x${'5e'.repeat(65)}`,
  x402Version: 2,
  network: 'eip155:8453',
  targetUrl: 'https://vendor.test/paid',
  targetHost: 'vendor.test',
  method: 'GET',
  ...change,
});

export const payoutOf = (name: string, kind: NewPayout['kind'] = 'close'): NewPayout => ({
  nonce: nonceOf(`payout ${name}`),
  kind,
  wallet: WALLET,
  payee: OWNER,
});

export const moveOf = (
  name: string,
  from: ReservationMove['from'],
  to: ReservationMove['to'],
): ReservationMove => ({ nonce: nonceOf(name), from, to });

/** What the history says of a payment. */
export const paidCharge = (
  agentId: number,
  costRaw: bigint,
  facts: SpendFacts = FACTS,
): ChargeRow => ({
  agentId,
  keyId: null,
  targetUrl: 'https://vendor.test/paid',
  targetHost: 'vendor.test',
  method: 'GET',
  status: 'success',
  costRaw,
  model: null,
  rail: null,
  usage: {},
  taskId: facts.taskId,
  actionId: null,
  customerId: null,
  sessionId: null,
  payee: facts.payee,
  responseStatusCode: 200,
  latencyMs: 1,
  overheadMs: null,
  upstreamMs: null,
});
