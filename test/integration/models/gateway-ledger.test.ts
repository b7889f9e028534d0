import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/kernel/clock.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { createLedger, type LiveLedger } from '../../../src/ledger/engine/ledger.ts';
import { createBalanceStore } from '../../../src/ledger/store/balances.ts';
import type {
  ModelEntry,
  SourceEntry,
} from '../../../src/models/catalogue/builtin/builtin-model.ts';
import { type TestDatabase, testDatabase } from '../../support/database.ts';
import { type GatewayWorld, gatewayWorld } from '../../support/gateway-world.ts';
import { seedAgent } from '../../support/ledger-world.ts';
import { type OpenAiUpstream, openAiUpstream } from '../../support/openai-upstream.ts';

const FUNDS = 1_000_000n;
/** As long as the 1,200 tokens that the upstream tells of are at least, so that they are held for. */
const content = 'Good morning?'.padEnd(1_300, '.');
const body = { model: 'acme/fast-1', messages: [{ role: 'user', content }] };

let database: TestDatabase;
let ledger: LiveLedger;
let upstream: OpenAiUpstream;
let gateway: GatewayWorld;
let agentId = 0;

beforeAll(async () => {
  database = await testDatabase();
  const node = { nodeId: 'gateway-test', leaseEpoch: 1 };
  const store = createBalanceStore({ sql: database.sql, node });
  ledger = createLedger({ store, clock: systemClock, log: silentLog });
  upstream = await openAiUpstream();
});

beforeEach(async () => {
  await gateway?.[Symbol.asyncDispose]();
  const agent = await seedAgent(database.sql);
  agentId = agent.agentId;
  await ledger.credit({ agentId, amountRaw: FUNDS, reference: `start ${agentId}` });
  const source: SourceEntry = {
    rail: 'direct-account',
    provider: 'acme',
    upstreamModel: 'fast-1',
    rates: { text_input_token: '2.5', text_output_token: '10' },
  };
  const models: ModelEntry[] = [
    { id: 'acme/fast-1', modality: 'text', sources: [source] },
    { id: 'acme/gift', modality: 'text', sources: [{ ...source, rail: 'free', rates: {} }] },
  ];
  const providers = { acme: { baseUrl: upstream.baseUrl, dialect: 'openai' } } as const;
  const keyId = agent.keyId;
  gateway = await gatewayWorld({ ledger, agentId, keyId, providers, models });
});

afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]();
  await upstream?.[Symbol.asyncDispose]();
  await ledger?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

const ask = (more: object = {}, headers: Record<string, string> = {}) =>
  gateway.request('/chat/completions', { body: { ...body, ...more }, headers });

type Row = { costRaw: bigint; status: string; taskId: string | null; overheadMs: number };
const charges = () =>
  database.sql<Row[]>`
    select cost_raw as "costRaw", status, task_id as "taskId", overhead_ms as "overheadMs"
    from charges where agent_id = ${agentId} order by id`;

async function openHolds(): Promise<number> {
  const [row] = await database.sql<{ open: number }[]>`
    select count(*)::int as open from holds where agent_id = ${agentId}`;
  return row?.open ?? -1;
}

describe('the gateway on the durable ledger', () => {
  it('forty concurrent chats commit to the durable ledger exactly what their headers say', async () => {
    const told = await Promise.all(
      Array.from({ length: 40 }, async (_, i) => {
        const response = await ask({ max_tokens: 400 }, { 'x-svc-task-id': `task-${i}` });
        expect(response.status).toBe(200);
        return BigInt(response.headers.get('x-svc-cost-usdc') ?? '0');
      }),
    );
    const sum = told.reduce((a, b) => a + b, 0n);
    expect(sum).toBe(40n * 7_350n);
    const rows = await charges();
    expect(rows.reduce((total, { costRaw }) => total + costRaw, 0n)).toBe(sum);
    expect(new Set(rows.map(({ taskId }) => taskId)).size).toBe(40);
    expect(await ledger.funds(agentId)).toMatchObject({ spendableRaw: FUNDS - sum, heldRaw: 0n });
    expect(await openHolds()).toBe(0);
  });

  it('a failed upstream leaves no hold and no charge in the durable ledger', async () => {
    upstream.faults.push({ kind: 'status', status: 503 });
    expect((await ask()).status).toBe(502);
    expect(await charges()).toMatchObject([{ status: 'failed', costRaw: 0n }]);
    expect(await ledger.funds(agentId)).toMatchObject({ spendableRaw: FUNDS, heldRaw: 0n });
    expect(await openHolds()).toBe(0);
  });

  it('a chat that the balance does not cover is refused, and leaves no row in the durable ledger', async () => {
    const before = upstream.seen.length;
    const messages = [{ role: 'user', content: 'x'.repeat(500_000) }];
    const response = await ask({ messages });
    expect(response.status).toBe(402);
    expect(await response.json()).toMatchObject({ available: FUNDS.toString() });
    expect(upstream.seen.length).toBe(before);
    expect(await charges()).toEqual([]);
    expect(await openHolds()).toBe(0);
  });

  it('racing chats never spend more than the balance in the durable ledger', async () => {
    // Each holds 210,000 raw and 3,434 for its prompt, so that four of them fit.
    const answers = await Promise.all(
      Array.from({ length: 12 }, () => ask({ max_tokens: 20_000 })),
    );
    const statuses = answers.map(({ status }) => status);
    expect(statuses.every((status) => status === 200 || status === 402)).toBe(true);
    const funds = await ledger.funds(agentId);
    const served = BigInt(statuses.filter((status) => status === 200).length);
    expect(served).toBeGreaterThanOrEqual(4n);
    expect(funds).toMatchObject({ spendableRaw: FUNDS - served * 7_350n, heldRaw: 0n });
  });

  it('a chat at a free source costs nothing, and is recorded in the durable ledger', async () => {
    const response = await ask({ model: 'acme/gift' });
    expect(response.headers.get('x-svc-cost-usdc')).toBe('0');
    expect(response.headers.get('x-svc-rail')).toBe('free');
    expect(await charges()).toMatchObject([{ status: 'success', costRaw: 0n }]);
    expect(await openHolds()).toBe(0);
  });
});
