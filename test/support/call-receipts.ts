import { expect } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { settledMoney } from './whole-world.ts';

type Payload = Record<string, unknown>;

/** What the events of a call say, in no order; of its end, if nothing else is asked for. */
export async function callEvents(
  sql: Sql,
  callId: string,
  name = 'call.ended',
): Promise<readonly Payload[]> {
  const rows = await sql<{ payload: Payload }[]>`
    select payload from events where correlation_id = ${callId} and name = ${name}`;
  return rows.map(({ payload }) => payload);
}

/** What the legs of a receipt cost together, in raw units. Without a receipt: nothing. */
export const legsRaw = (receipt: Payload = {}): bigint =>
  ['transportRaw', 'sttRaw', 'ttsRaw'].reduce(
    (raw, leg) => raw + BigInt(String(receipt[leg] ?? 0)),
    0n,
  );

/** What the ledger took for the legs of a call, in raw units. */
export async function chargedLegsRaw(sql: Sql, callId: string): Promise<bigint | undefined> {
  const [charged] = await sql<{ legs: bigint }[]>`
    select coalesce(sum(cost_raw), 0)::bigint as legs from charges
    where session_id = ${callId} and target_url like 'phone://%'`;
  return charged?.legs;
}

/** Nothing of the agent is held, and its balance is what it was credited without what it was charged. */
export async function expectBalanced(sql: Sql, agentId: number, withinMs?: number): Promise<void> {
  const money = await settledMoney(sql, agentId, withinMs);
  expect(money.spendable).toBe(money.credited - money.charged);
}

/** The receipt of a call, of which there is one: it is what the ledger took, to the raw unit. */
export async function expectSettledOnce(
  sql: Sql,
  agentId: number,
  callId: string,
): Promise<Payload> {
  const ended = await callEvents(sql, callId);
  expect(ended).toHaveLength(1);
  const receipt = ended[0] ?? {};
  for (const leg of ['transportRaw', 'sttRaw', 'ttsRaw']) expect(receipt).toHaveProperty(leg);
  expect(legsRaw(receipt)).toBe(await chargedLegsRaw(sql, callId));
  await expectBalanced(sql, agentId);
  expect(await checkInvariants(sql)).toEqual([]);
  return receipt;
}

/** The line of a call from outside cost 8,900 raw units a minute, by the second and rounded up. */
export function expectInboundRate(receipt: Payload = {}): void {
  const seconds = BigInt(Number(receipt.durationSeconds));
  expect(BigInt(String(receipt.transportRaw))).toBe((8_900n * seconds + 59n) / 60n);
}
