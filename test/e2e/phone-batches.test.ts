import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { numbered } from '../support/call-batches.ts';
import { QuietCallee, rentNumber } from '../support/phone-world.ts';
import { ask, newDeveloper, startWorld, type WholeWorld } from '../support/whole-world.ts';

const callees = new Map<string, QuietCallee>();

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld(
    {},
    {
      calleeOf: async ({ to }) => {
        const callee = new QuietCallee();
        callees.set(to, callee);
        return callee;
      },
    },
  );
});
afterAll(() => world[Symbol.asyncDispose]());

async function caller(name: string) {
  const developer = await newDeveloper(world.api, name);
  const agentId = await developer.createAgent(name);
  await ask(`${world.url}/v1/admin/agents/${agentId}/credit`, {
    headers: { 'x-admin-key': world.adminApiKey },
    body: { amountRaw: '5000000', reference: `funds-${agentId}` },
  });
  const { key } = await developer.mintKey(agentId);
  await rentNumber(world.sql, agentId, `+1415555${String(1_000 + agentId).slice(0, 4)}`);
  const headers = { authorization: `Bearer ${key}` };
  const at = (path = '') => `${world.url}/v1/calls/batch${path}`;
  return {
    agentId,
    developer,
    headers,
    order: (body: object, more: object = {}) =>
      ask(at(), {
        headers: { ...headers, ...more },
        body: { maxSpendRaw: '100000', beginMessage: 'Hello.', ...body },
      }),
    read: async (batchId: unknown) => (await ask(at(`/${batchId}`), { headers })).body,
    get: (path: string, as: Readonly<Record<string, string>> = headers) =>
      ask(at(path), { headers: as }),
    post: (path: string, body?: object, as: Readonly<Record<string, string>> = headers) =>
      ask(at(path), { method: 'POST', headers: as, ...(body && { body }) }),
  };
}

const until = (look: () => unknown, expected: object) =>
  vi.waitFor(async () => expect(await look()).toMatchObject(expected), {
    timeout: 25_000,
    interval: 50,
  });

describe('POST /v1/calls/batch', () => {
  it('POST /v1/calls/batch calls every recipient, and reports the outcome and cost of each call', async () => {
    const { agentId, developer, get, headers, order, read } = await caller('batch');
    const busy = '+14155550180';
    const recipients = [...numbered(2), { to: busy }];
    const answer = await order({ name: 'reminders', recipients, maxConcurrent: 2 });
    expect(answer).toMatchObject({
      status: 201,
      body: {
        agentId,
        name: 'reminders',
        status: 'running',
        recipients: 3,
        maxConcurrent: 2,
        counts: { waiting: 3, calling: 0 },
        costRaw: '0',
      },
    });
    const { batchId } = answer.body;
    const path = `/${batchId}/recipients`;
    const listed = async () => (await get(path)).body.recipients as Record<string, unknown>[];
    for (const { to } of numbered(2)) {
      await vi.waitFor(() => expect(callees.get(to)?.heardFrames).toBeGreaterThan(10), 20_000);
      const callId = (await listed()).find((row) => row.to === to)?.callId;
      await ask(`${world.url}/v1/calls/${callId}/hangup`, { method: 'POST', headers });
    }
    await until(() => read(batchId), { status: 'completed', counts: { completed: 2, busy: 1 } });
    const rows = await listed();
    expect(rows).toMatchObject([
      { index: 0, status: 'done', outcome: 'completed', reason: 'agent_ended', calls: 1 },
      { index: 1, status: 'done', outcome: 'completed' },
      { index: 2, to: busy, status: 'done', outcome: 'busy', reason: 'dial_busy', costRaw: '0' },
    ]);
    const [charged] = await world.sql`
      select sum(cost_raw)::text as raw from charges where agent_id = ${agentId}`;
    const { costRaw } = await read(batchId);
    expect(costRaw).toBe(charged?.raw);
    expect(rows.reduce((sum, row) => sum + BigInt(String(row.costRaw)), 0n)).toBe(
      BigInt(charged?.raw),
    );
    expect((await get('?status=completed')).body.batches).toMatchObject([{ batchId }]);
    expect((await get('?status=running')).body).toEqual({ batches: [], nextCursor: null });
    expect((await get('?status=later')).status).toBe(400);
    const page = await get(`${path}?limit=2`, developer.headers);
    expect(page.body).toMatchObject({ nextCursor: '1', recipients: [{ index: 0 }, { index: 1 }] });
    expect((await get(`${path}?cursor=1`)).body).toMatchObject({
      nextCursor: null,
      recipients: [{ index: 2 }],
    });
    expect(await checkInvariants(world.sql)).toEqual([]);
  });

  it('POST /v1/calls/batch is refused whole, with the recipients that cannot be called', async () => {
    const { get, order } = await caller('refused');
    const recipients = [...numbered(1), { to: '911' }, { to: '+14155550100', model: 'no/model' }];
    expect(await order({ recipients })).toMatchObject({
      status: 400,
      body: {
        error: 'recipients_refused',
        refused: 2,
        recipients: [
          { index: 1, to: '911', error: 'invalid_to_number' },
          { index: 2, error: 'invalid_model' },
        ],
      },
    });
    expect((await get('')).body).toEqual({ batches: [], nextCursor: null });
  });

  it('POST /v1/calls/batch is refused for its size before its recipients are read', async () => {
    const { order } = await caller('large');
    const many = await order({ recipients: Array.from({ length: 1_001 }, () => 7) });
    expect(many.status).toBe(400);
    expect(JSON.stringify(many.body)).toContain('recipients');
    expect(JSON.stringify(many.body)).not.toContain('recipients.0');
    const none = await order({ recipients: [] });
    expect(none.status).toBe(400);
    const large = await order({ recipients: numbered(1), pad: 'x'.repeat(2_100_000) });
    expect(large.status).toBe(413);
    for (const wrong of [
      { callingHours: { from: 9, until: 9 } },
      { callingHours: { from: 24, until: 9 } },
      { maxConcurrent: 0 },
      { retries: { busy: { count: 11, waitSeconds: 60 } } },
      { retries: { completed: { count: 1, waitSeconds: 60 } } },
      { startAt: 'tomorrow' },
    ]) {
      const refused = await order({ recipients: numbered(1), ...wrong });
      expect(refused.status, JSON.stringify(wrong)).toBe(400);
    }
  });

  it('POST /v1/calls/batch creates one batch under an Idempotency-Key', async () => {
    const { get, order } = await caller('keyed');
    const body = {
      recipients: numbered(1),
      startAt: new Date(Date.now() + 3_600_000).toISOString(),
    };
    const [first, second] = [
      await order(body, { 'idempotency-key': 'once' }),
      await order(body, { 'idempotency-key': 'once' }),
    ];
    expect(first.status).toBe(201);
    expect(second.body).toEqual(first.body);
    expect((await get('')).body.batches).toHaveLength(1);
  });
});

describe('a batch', () => {
  it('a batch of calls is read and stopped by its agent and by its developer, and by nobody else', async () => {
    const mine = await caller('mine');
    const other = await caller('other');
    const startAt = new Date(Date.now() + 3_600_000).toISOString();
    const { batchId } = (await mine.order({ recipients: numbered(2), startAt })).body;
    for (const as of [other.headers, other.developer.headers]) {
      expect((await mine.get(`/${batchId}`, as)).status).toBe(404);
      expect((await mine.get(`/${batchId}/recipients`, as)).status).toBe(404);
      for (const verb of ['cancel', 'pause', 'resume']) {
        expect((await mine.post(`/${batchId}/${verb}`, {}, as)).status).toBe(404);
      }
      expect((await mine.get('', as)).body).toMatchObject({ batches: [] });
    }
    const by = mine.developer.headers;
    expect((await mine.get('', by)).body).toMatchObject({ batches: [{ batchId, startAt }] });
    expect((await mine.post(`/${batchId}/pause`, undefined, by)).body).toMatchObject({
      status: 'paused',
      pausedFor: null,
    });
    expect((await mine.post(`/${batchId}/resume`)).body).toMatchObject({ status: 'running' });
    expect((await mine.post(`/${batchId}/cancel`, { hangup: true }, by)).body).toMatchObject({
      status: 'canceled',
      counts: { canceled: 2, waiting: 0 },
    });
    await until(() => mine.read(batchId), { endedAt: expect.any(String) });
    expect((await mine.post(`/${batchId}/resume`)).body).toMatchObject({ error: 'batch_over' });
    expect((await mine.post(`/${batchId}/cancel`, {})).status).toBe(200);
  });
});
