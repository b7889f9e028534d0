import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { numbered, PLAIN_ORDER, startBatchWorld } from '../../support/call-batches.ts';

type World = Awaited<ReturnType<typeof startBatchWorld>>;

let world: World;
beforeAll(async () => {
  world = await startBatchWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

let used = 0;
/** Numbers that no other test calls. */
const fresh = (count: number) => {
  used += count;
  return numbered(count, used - count);
};
const tosOf = (recipients: readonly { to: string }[]) => recipients.map(({ to }) => to);
/** The numbers of these that were dialled, by number. */
const rungOf = (recipients: readonly { to: string }[]) =>
  world
    .rung()
    .filter((to) => tosOf(recipients).includes(to))
    .sort();

describe('a batch of calls', () => {
  it('a batch calls each recipient once, at most maxConcurrent at a time, and is completed when all calls are done', async () => {
    const agent = await world.agent();
    const recipients = fresh(5);
    const [a = '', b = '', c = '', d = '', e = ''] = tosOf(recipients);
    const batchId = await world.order(agent, { recipients, maxConcurrent: 2, name: 'reminders' });
    await world.turn();
    await world.turn();
    expect(rungOf(recipients)).toEqual([a, b]);
    await world.complete(a);
    await world.turn();
    expect(rungOf(recipients)).toEqual([a, b, c]);
    await world.end(b, 'busy');
    await world.end(c, 'no-answer');
    await world.turn();
    expect(rungOf(recipients)).toEqual([a, b, c, d, e]);
    await world.end(d, 'failed');
    await world.end(e, 'invalid');
    await world.turn();
    await world.turn();
    expect(await world.batches.read(agent, batchId)).toMatchObject({
      status: 'completed',
      endedAt: expect.any(Date),
      totals: {
        recipients: 5,
        counts: {
          completed: 1,
          busy: 1,
          no_answer: 1,
          failed: 1,
          invalid: 1,
          waiting: 0,
          calling: 0,
        },
      },
    });
    expect(await world.recipients(agent, batchId)).toMatchObject([
      { index: 0, to: a, status: 'done', outcome: 'completed', reason: 'call_ended', calls: 1 },
      { index: 1, to: b, status: 'done', outcome: 'busy', reason: 'dial_busy', calls: 1 },
      { outcome: 'no_answer' },
      { outcome: 'failed' },
      { outcome: 'invalid', callId: expect.stringMatching(/^CA/), notBefore: null },
    ]);
    expect(await world.faults()).toEqual([]);
  });

  it('a batch never has more concurrent calls than its agent may have', async () => {
    const agent = await world.agent();
    const recipients = fresh(5);
    await world.order(agent, { recipients });
    await world.turn();
    await world.turn();
    expect(rungOf(recipients)).toHaveLength(3);
    await world.end(tosOf(recipients)[1] ?? '', 'busy');
    await world.turn();
    expect(rungOf(recipients)).toHaveLength(4);
  });

  it('a batch calls nobody before its start', async () => {
    const agent = await world.agent();
    const recipients = fresh(1);
    const startAtMs = Date.now() + 3_600_000;
    const batchId = await world.order(agent, { recipients, startAtMs });
    await world.turn();
    expect(rungOf(recipients)).toEqual([]);
    const [row] = await world.sql`select due_at from call_batches where id = ${batchId}`;
    expect(row?.due_at.getTime()).toBeGreaterThan(Date.now() + 3_500_000);
  });

  it('a batch gives each call the shared settings, merged with those of its recipient', async () => {
    const agent = await world.agent();
    const [one, two] = fresh(2);
    const overrides = {
      ...PLAIN_ORDER.overrides,
      texts: { systemPrompt: 'You remind {{name}} of {{day}}.', beginMessage: 'Hello {{name}}.' },
      variables: { day: 'Monday' },
      metadata: { campaign: 7 },
    };
    await world.order(agent, {
      shared: { ...PLAIN_ORDER, overrides },
      recipients: [
        { ...one, variables: { name: 'Ann' }, metadata: { crm: 'a' } },
        { ...two, variables: { name: 'Bob', day: 'Friday' }, beginMessage: 'Hi.', voice: 'amy' },
      ],
    });
    await world.turn();
    const rows = await world.sql<{ to_number: string; options: object; max_spend_raw: bigint }[]>`
      select to_number, options, max_spend_raw from calls where agent_id = ${agent.agentId} order by batch_row`;
    expect(rows).toMatchObject([
      {
        to_number: one?.to,
        max_spend_raw: 100_000n,
        options: {
          voice: { systemPrompt: 'You remind Ann of Monday.', beginMessage: 'Hello Ann.' },
          metadata: { campaign: 7, crm: 'a' },
        },
      },
      {
        to_number: two?.to,
        options: {
          voice: { systemPrompt: 'You remind Bob of Friday.', beginMessage: 'Hi.', voice: 'amy' },
          metadata: { campaign: 7 },
        },
      },
    ]);
  });
});

describe('the cost of a recipient', () => {
  it('the cost of a recipient has every charge of its calls, even one dated after the batch turn began', async () => {
    const agent = await world.agent();
    const recipients = fresh(1);
    const [a = ''] = tosOf(recipients);
    const batchId = await world.order(agent, { recipients });
    await world.turn();
    await world.complete(a);
    const [row] = await world.recipients(agent, batchId);
    // The clock of the turn stood still when it began.
    await world.sql`
      insert into charges (agent_id, posting_id, target_url, target_host, method, status, cost_raw,
        usage, session_id, created_at)
      values (${agent.agentId}, 'resolve:x', 'phone://line', 'telephony', 'GET', 'success', 245, '{}',
        ${row?.callId ?? null}, now() + interval '1 minute')`;
    await world.turn();
    expect(await world.recipients(agent, batchId)).toMatchObject([{ costRaw: 245n }]);
    expect(await world.batches.read(agent, batchId)).toMatchObject({ totals: { costRaw: 245n } });
  });
});

describe('the retries of a batch', () => {
  it('the retries of a batch depend on the outcome, wait their delay, and stop at the maximum count', async () => {
    const agent = await world.agent();
    const recipients = fresh(2);
    const [a = '', b = ''] = tosOf(recipients);
    const batchId = await world.order(agent, {
      recipients,
      retries: { busy: { count: 2, waitSeconds: 600 }, no_answer: { count: 1, waitSeconds: 60 } },
    });
    await world.turn();
    await world.end(a, 'busy');
    await world.end(b, 'failed');
    await world.turn();
    const [waiting, failed] = await world.recipients(agent, batchId);
    expect(waiting).toMatchObject({ status: 'waiting', outcome: 'busy', calls: 1 });
    const waitMs = (waiting?.notBefore?.getTime() ?? 0) - Date.now();
    expect(waitMs).toBeGreaterThan(590_000);
    expect(waitMs).toBeLessThan(601_000);
    expect(failed).toMatchObject({ status: 'done', outcome: 'failed', calls: 1 });
    await world.turn();
    expect(rungOf(recipients)).toEqual([a, b]);
    for (const outcome of ['no-answer', 'busy', 'busy'] as const) {
      await world.hurry(batchId);
      await world.turn();
      await world.end(a, outcome);
      await world.turn();
    }
    expect(rungOf(recipients)).toEqual([a, a, b]);
    expect((await world.recipients(agent, batchId))[0]).toMatchObject({
      status: 'done',
      outcome: 'no_answer',
      calls: 2,
    });
  });

  it('a batch calls again after a voicemail when the batch allows that, and never after a conversation', async () => {
    const agent = await world.agent();
    const recipients = fresh(2);
    const [a = '', b = ''] = tosOf(recipients);
    const batchId = await world.order(agent, {
      recipients,
      retries: { voicemail: { count: 1, waitSeconds: 30 } },
    });
    await world.turn();
    await world.complete(a, 'voicemail_reached');
    await world.complete(b);
    await world.turn();
    await world.hurry(batchId);
    await world.turn();
    expect(rungOf(recipients)).toEqual([a, a, b]);
    expect(await world.recipients(agent, batchId)).toMatchObject([
      { status: 'calling', outcome: 'voicemail', calls: 2 },
      { status: 'done', outcome: 'completed', calls: 1 },
    ]);
  });
});

describe('a batch with calling hours', () => {
  const NOON_UTC = Date.UTC(2026, 0, 15, 12);

  it('a batch calls recipients whose local time is in the calling hours, and the others once theirs is', async () => {
    const agent = await world.agent();
    const [{ to: west } = { to: '' }] = fresh(1);
    const east = `+1212${west.slice(5)}`;
    world.at.nowMs = NOON_UTC;
    try {
      const callingHours = { from: 7, until: 9 };
      const recipients = [{ to: west }, { to: east }];
      const batchId = await world.order(agent, { recipients, callingHours });
      await world.turn();
      expect(world.rung().filter((to) => [west, east].includes(to))).toEqual([east]);
      const [row] = await world.sql`
        select due_at from call_batch_rows where batch_id = ${batchId} and seq = 0`;
      expect(row?.due_at).toEqual(new Date(NOON_UTC + 900_000));
      world.at.nowMs = NOON_UTC + 3 * 3_600_000;
      await world.hurry(batchId);
      await world.turn();
      expect(world.rung().filter((to) => [west, east].includes(to))).toEqual([east, west]);
    } finally {
      world.at.nowMs = undefined;
    }
  });
});

describe('a batch that is stopped', () => {
  it('a canceled batch calls nobody else, and ends with its last call', async () => {
    const agent = await world.agent();
    const recipients = fresh(4);
    const [a = '', b = ''] = tosOf(recipients);
    const batchId = await world.order(agent, {
      recipients,
      maxConcurrent: 2,
      retries: { busy: { count: 5, waitSeconds: 30 } },
    });
    await world.turn();
    await world.end(a, 'busy');
    const canceled = await world.batches.cancel(agent, batchId, { hangUp: false });
    expect(canceled).toMatchObject({
      status: 'canceled',
      endedAt: null,
      totals: { counts: { canceled: 2, calling: 2, waiting: 0 } },
    });
    await world.turn();
    expect(rungOf(recipients)).toEqual([a, b]);
    expect(world.hungUp).toEqual([]);
    await world.complete(b);
    await world.turn();
    expect(await world.recipients(agent, batchId)).toMatchObject([
      { outcome: 'busy' },
      { outcome: 'completed' },
      { outcome: 'canceled', callId: null, calls: 0 },
      { outcome: 'canceled', callId: null, calls: 0 },
    ]);
    await expect(world.batches.resume(agent, batchId, undefined)).rejects.toMatchObject({
      status: 409,
      error: 'batch_over',
    });
  });

  it('a canceled batch hangs up its live calls when the request says so', async () => {
    const agent = await world.agent();
    const recipients = fresh(1);
    const batchId = await world.order(agent, { recipients });
    await world.turn();
    await world.batches.cancel(agent, batchId, { hangUp: true });
    const call = world.dialled.at(-1);
    expect(world.hungUp).toContain(`LB${call?.callId}`);
    await world.end(call?.to ?? '', 'canceled');
    await world.turn();
    expect(await world.recipients(agent, batchId)).toMatchObject([
      { status: 'done', outcome: 'canceled', reason: 'agent_ended', calls: 1 },
    ]);
  });

  it('a paused batch calls nobody, and goes on once it is resumed', async () => {
    const agent = await world.agent();
    const recipients = fresh(2);
    const [a = '', b = ''] = tosOf(recipients);
    const batchId = await world.order(agent, { recipients, maxConcurrent: 1 });
    await world.turn();
    await world.batches.pause(agent, batchId);
    await world.end(a, 'busy');
    await world.turn();
    expect(await world.batches.read(agent, batchId)).toMatchObject({
      status: 'paused',
      pausedFor: null,
      totals: { counts: { busy: 1, waiting: 1 } },
    });
    await world.turn();
    expect(rungOf(recipients)).toEqual([a]);
    await world.batches.resume(agent, batchId, undefined);
    await world.turn();
    expect(rungOf(recipients)).toEqual([a, b]);
  });

  it('a batch gives up its remaining recipients thirty days after its start', async () => {
    const agent = await world.agent();
    const recipients = fresh(1);
    const batchId = await world.order(agent, { recipients });
    await world.batches.pause(agent, batchId);
    world.at.nowMs = Date.now() + 31 * 86_400_000;
    await world.turn();
    world.at.nowMs = undefined;
    expect(await world.recipients(agent, batchId)).toMatchObject([
      { status: 'done', outcome: 'expired' },
    ]);
  });
});
