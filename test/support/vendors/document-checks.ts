import { expect } from 'vitest';
import type { MarketAnswer } from '../../../src/payments/proxy/marketplace.ts';
import type { DocumentAgent, DocumentWorld } from './document-world.ts';

/** Half a rupee a page at 83 for a dollar, and 5 %: 6325.30185 raw a page. */
export const PRICE = { 0: 0n, 1: 6_326n, 2: 12_651n, 3: 18_976n, 9: 56_928n, 10: 63_254n } as const;
/** What is held for every PDF: as many pages as the vendor takes. */
export const HELD = PRICE[10];
export const START = 1_000_000n;
export const COMPLETED = 'marketplace.job.completed';

export const resultOf = (answer: MarketAnswer) =>
  JSON.parse(Buffer.from(answer.body).toString()).result;

/** A job as its agent reads it. */
export async function readJobOf(
  { main }: DocumentWorld,
  { accountId, agentId }: DocumentAgent,
  jobId: string,
) {
  const signal = new AbortController().signal;
  const reading = { accountId, agentId, vendor: 'sarvam', jobId, signal };
  return resultOf(await main.jobs.read(reading));
}

/** All that must hold of an agent whose jobs have ended: paid once, told once, nothing held. */
export async function expectEnded(
  world: DocumentWorld,
  agent: DocumentAgent,
  costRaw: bigint,
  statuses: readonly string[],
) {
  expect(await world.money(agent)).toEqual({ spendable: START - costRaw, held: 0n });
  const { charges, events, lines } = await world.traces(agent);
  expect(charges.reduce((sum, { cost }) => sum + cost, 0n)).toBe(costRaw);
  expect(lines).toEqual(costRaw === 0n ? [] : [costRaw]);
  const ends = events.filter(({ name }) => name === COMPLETED);
  expect(ends.map(({ payload }) => payload.status)).toEqual(statuses);
  const rows = await world.rows(agent);
  expect(rows.map(({ step }) => step)).toEqual(statuses);
  expect(rows.reduce((sum, { cost_raw: cost }) => sum + (cost ?? 0n), 0n)).toBe(costRaw);
  expect(await world.faults()).toEqual([]);
}
