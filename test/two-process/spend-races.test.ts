import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { type OpenAiUpstream, openAiUpstream } from '../support/openai-upstream.ts';
import { gatewayProcess, PRICE_RAW, raceCalls } from '../support/spend-race.ts';
import { afterRace, prepareRace, RACE_HEADERS, RACE_KINDS } from '../support/spend-race-kinds.ts';

const CALLS = 1_000;
const ROOM = 100;

let database: TestDatabase;
let upstream: OpenAiUpstream;
beforeAll(async () => {
  database = await testDatabase();
  upstream = await openAiUpstream();
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

describe('a thousand calls at once, half of them in another process', () => {
  it.each(RACE_KINDS)(
    'exactly 100 of 1,000 concurrent calls over two processes pass: $name',
    async (kind) => {
      const { agents, policyId } = await prepareRace(database.sql, kind, CALLS, ROOM);
      const shared = { target: database.target, agents, upstreamUrl: upstream.baseUrl };
      await using a = await gatewayProcess({ ...shared, nodeId: 'a' });
      await using b = await gatewayProcess({ ...shared, nodeId: 'b' });
      upstream.seen.length = 0;
      const statuses = await raceCalls([a.url, b.url], agents, CALLS, RACE_HEADERS);
      const after = await afterRace(database.sql, agents, policyId);
      expect(Object.fromEntries(statuses)).toEqual({ 200: ROOM, 402: CALLS - ROOM });
      // What is refused is refused before anything goes upstream, and what passed has its line.
      expect(upstream.seen).toHaveLength(ROOM);
      const spentRaw = PRICE_RAW * BigInt(ROOM);
      expect(after).toEqual({
        heldRaw: 0n,
        settledRaw: policyId === undefined ? 0n : spentRaw,
        chargedRaw: spentRaw,
        charges: ROOM,
        violations: [],
      });
    },
  );
});
