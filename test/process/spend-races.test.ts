import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { LiveLedger } from '../../src/ledger/engine/ledger.ts';
import { type TestDatabase, testDatabase } from '../support/database.ts';
import { gatewayWorld } from '../support/gateway-world.ts';
import { liveLedger } from '../support/ledger-load.ts';
import { type OpenAiUpstream, openAiUpstream } from '../support/openai-upstream.ts';
import { keyOf, PRICE_RAW, RACE_MODELS, raceCalls } from '../support/spend-race.ts';
import { afterRace, prepareRace, RACE_HEADERS, RACE_KINDS } from '../support/spend-race-kinds.ts';

const CALLS = 1_000;
const ROOM = 100;

let database: TestDatabase;
let ledger: LiveLedger;
let upstream: OpenAiUpstream;
beforeAll(async () => {
  database = await testDatabase();
  ledger = liveLedger(database.sql, 'spend races');
  upstream = await openAiUpstream();
});
afterAll(async () => {
  await upstream[Symbol.asyncDispose]();
  await ledger[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

const gatewayOf = (agents: readonly { agentId: number; keyId: number }[]) =>
  gatewayWorld({
    ledger,
    others: new Map(agents.map((agent) => [keyOf(agent), agent])),
    providers: { acme: { baseUrl: upstream.baseUrl, dialect: 'openai' } },
    models: RACE_MODELS,
    rateLimits: { gatewayPerMinute: 1_000_000, globalPerMinute: 1_000_000 },
  });

describe('a thousand calls at once against a cap that fits a hundred', () => {
  it.each(RACE_KINDS)(
    'exactly 100 of 1000 concurrent calls pass a cap that fits 100: $name',
    async (kind) => {
      const { agents, policyId } = await prepareRace(database.sql, kind, CALLS, ROOM);
      await using gateway = await gatewayOf(agents);
      upstream.seen.length = 0;
      const statuses = await raceCalls([gateway.baseUrl], agents, CALLS, RACE_HEADERS);
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

  it.each(RACE_KINDS)(
    'concurrent calls that the vendor declines leave no hold and no counted spending: $name',
    async (kind) => {
      const { agents, policyId } = await prepareRace(database.sql, kind, 200, ROOM);
      await using gateway = await gatewayOf(agents);
      // Each admitted call is declined by the vendor, so that its hold goes back whole.
      for (let i = 0; i < 200; i++) upstream.faults.push({ kind: 'status', status: 400 });
      const statuses = await raceCalls([gateway.baseUrl], agents, 200, RACE_HEADERS);
      upstream.faults.length = 0;
      expect(statuses.get(200)).toBeUndefined();
      expect(statuses.get(400)).toBeGreaterThanOrEqual(ROOM);
      const after = await afterRace(database.sql, agents, policyId);
      expect(after).toEqual({
        heldRaw: 0n,
        settledRaw: 0n,
        chargedRaw: 0n,
        violations: [],
        charges: statuses.get(400),
      });
    },
  );
});
