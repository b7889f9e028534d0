import { describe, expect, it } from 'vitest';
import { matchesEvent } from '../../../src/webhooks/catalogue.ts';
import { createWebhookRecoveries } from '../../../src/webhooks/delivery/deliveries.ts';
import {
  dispatchEvents,
  pruneOld,
  readFeed,
} from '../../../src/webhooks/delivery/dispatch-store.ts';
import { claimDue, failStranded, readBacklog } from '../../../src/webhooks/delivery/queue-store.ts';
import { stepRecovery } from '../../../src/webhooks/delivery/recovery-store.ts';
import { WEBHOOK_LIMITS } from '../../../src/webhooks/limits.ts';
import { startReceiver } from '../../support/receiver.ts';
import { webhookWorld } from '../../support/webhook-world.ts';

const FIVE_DAYS_MS = WEBHOOK_LIMITS.endpoint.failingMs;

async function opened(options: Parameters<typeof webhookWorld>[0] = {}) {
  const world = await webhookWorld(options);
  const receiver = await startReceiver();
  const accountId = await world.account('acct_a');
  const register = async (path = '/', more: Record<string, unknown> = {}) => {
    const wanted = { url: `${receiver.url}${path}`, events: ['*'], ...more };
    return (await world.webhooks.create(accountId, wanted)).webhook;
  };
  const statuses = async () =>
    (
      await world.sql<{ status: string; attempt: number; error: string | null }[]>`
        select status, attempt, error from webhook_deliveries order by id`
    ).map(({ attempt, error, status }) => [status, attempt, error]);
  return {
    ...world,
    world,
    receiver,
    accountId,
    register,
    statuses,
    async [Symbol.asyncDispose]() {
      await world[Symbol.asyncDispose]();
      await receiver[Symbol.asyncDispose]();
    },
  };
}

describe('an event on its way', () => {
  it('an event is delivered at 0, 60 and 300 seconds, and has failed after the third attempt', async () => {
    await using w = await opened();
    w.receiver.answers((_, response) => response.writeHead(503).end());
    await w.register();
    await w.happened(w.accountId);
    await w.tick();
    const seen: number[] = [w.receiver.received.length];
    for (const ms of [59_000, 2_000, 299_000, 2_000, 86_400_000]) {
      w.pass(ms);
      await w.tick();
      seen.push(w.receiver.received.length);
    }
    expect(seen).toEqual([1, 1, 2, 2, 3, 3]);
    expect(await w.statuses()).toEqual([['failed', 3, 'HTTP 503']]);
    const ids = w.receiver.received.map(({ headers }) => headers['x-svc-delivery-id']);
    expect(new Set(ids).size).toBe(1);
  });

  it('an event is not sent to an endpoint that was registered after the event', async () => {
    await using w = await opened();
    await w.happened(w.accountId);
    await w.register();
    await w.tick();
    expect(await w.statuses()).toEqual([]);
  });

  it('a server event reaches every account, whatever the scope of the endpoint', async () => {
    await using w = await opened();
    const other = await w.account('acct_b');
    await w.register('/a', { scope: 'agent', scopeValue: `0x${'b'.repeat(40)}` });
    await w.webhooks.create(other, { url: `${w.receiver.url}/b`, events: ['marketplace.*'] });
    await w.sql`insert into events (name, payload) values ('marketplace.vendor.degraded', '{}')`;
    await w.tick();
    expect(w.receiver.received.map(({ path }) => path).sort()).toEqual(['/a', '/b']);
  });

  it('an event that is pinned to one endpoint goes to that endpoint alone', async () => {
    await using w = await opened();
    await w.register('/a');
    const { id } = await w.register('/b', { events: ['call.*'] });
    await w.sql`insert into events (name, account_id, webhook_id, payload)
      values ('credit.warning', ${w.accountId}, ${id}, '{}')`;
    await w.tick();
    expect(w.receiver.received.map(({ path }) => path)).toEqual(['/b']);
  });

  it('an event gets its position in commit order, so that a reader by position misses none', async () => {
    await using w = await opened();
    let commit = () => {};
    const held = new Promise<void>((resolve) => {
      commit = resolve;
    });
    const slow = w.sql.begin(async (tx) => {
      await tx`insert into events (name, account_id, payload) values ('key.created', ${w.accountId}, '{"n":1}')`;
      await held;
    });
    await w.happened(w.accountId);
    await w.tick();
    const first = await readFeed(w.sql, w.accountId, { after: 0n, limit: 10 });
    expect(first.map(({ name }) => name)).toEqual(['agent.created']);
    commit();
    await slow;
    await w.tick();
    const after = first.at(-1)?.position ?? 0n;
    const rest = await readFeed(w.sql, w.accountId, { after, limit: 10 });
    expect(rest.map(({ name }) => name)).toEqual(['key.created']);
  });

  it('an event is dispatched once by any number of processes', async () => {
    await using w = await opened({ processes: 4 });
    await w.register();
    await w.happened(w.accountId, 40);
    for (let n = 0; n < 5; n++) await w.tick();
    expect(w.receiver.received).toHaveLength(40);
    const ids = w.receiver.received.map(({ headers }) => headers['x-svc-delivery-id']);
    expect(new Set(ids).size).toBe(40);
    expect((await w.statuses()).every(([status]) => status === 'success')).toBe(true);
  });

  it('an event is queued once, even if one process starts to dispatch as another one stops', async () => {
    await using w = await opened();
    await w.register();
    for (let round = 1; round <= 60; round++) {
      await w.happened(w.accountId, 5);
      const found = await Promise.all(Array.from({ length: 8 }, () => dispatchEvents(w.sql, 100)));
      expect(found.reduce((sum, { deliveries }) => sum + deliveries, 0)).toBe(5);
    }
    const [queued] = await w.sql`
      select count(*)::int as rows, count(distinct event_id)::int as events from webhook_deliveries`;
    expect(queued).toEqual({ rows: 300, events: 300 });
  });
});

describe('an endpoint', () => {
  it('a webhook endpoint that does not respond delays only its own queue', async () => {
    await using w = await opened({ attemptMs: 400 });
    w.receiver.answers(({ path }, response) => path !== '/slow' && response.writeHead(200).end());
    await w.register('/slow');
    await w.register('/quick');
    await w.happened(w.accountId, 100);
    const beganMs = Date.now();
    const ticking = w.tick();
    await expect
      .poll(() => w.receiver.received.filter(({ path }) => path === '/quick').length)
      .toBe(100);
    expect(Date.now() - beganMs).toBeLessThan(2_000);
    const { inFlightPerEndpoint } = WEBHOOK_LIMITS.queue;
    expect(w.receiver.received.filter(({ path }) => path === '/slow').length).toBeLessThanOrEqual(
      inFlightPerEndpoint * 6,
    );
    await ticking;
  });

  it('a failing webhook endpoint gets few delivery slots, so that many failing endpoints leave slots for the others', async () => {
    await using w = await opened({ attemptMs: 300 });
    w.receiver.answers(({ path }, response) => path !== '/dead' && response.writeHead(200).end());
    for (let n = 0; n < 9; n++) await w.register('/dead');
    await w.happened(w.accountId);
    await w.tick();
    await w.happened(w.accountId, 50);
    await dispatchEvents(w.sql, 100);
    const claimed = await claimDue(w.sql, { busy: new Map(), limit: 1_024, nowMs: w.now() });
    expect(claimed).toHaveLength(9 * WEBHOOK_LIMITS.queue.inFlightPerFailing);
  });

  it('a webhook delivery is due in the millisecond in which it is queued', async () => {
    await using w = await opened();
    await w.register();
    await w.happened(w.accountId, 20);
    await dispatchEvents(w.sql, 20);
    const [row] = await w.sql<{ queued: number; whole: number }[]>`
      select count(*)::int as queued,
        count(*) filter (where due_at = date_trunc('milliseconds', due_at))::int as whole
      from webhook_deliveries`;
    expect(row).toEqual({ queued: 20, whole: 20 });
  });

  it("a webhook endpoint that answers 410 is switched off at once, and its developer's endpoints for all events are told", async () => {
    await using w = await opened();
    w.receiver.answers(({ path }, response) => {
      response.writeHead(path === '/gone' ? 410 : 200).end();
    });
    const { id } = await w.register('/gone');
    await w.register('/other', { events: ['*'] });
    await w.register('/calls', { events: ['call.*', 'credit.warning'] });
    await w.happened(w.accountId);
    await w.tick();
    await w.tick();
    const [webhook] = await w.webhooks.list(w.accountId);
    expect(webhook).toMatchObject({ active: false, inactiveReason: expect.stringMatching('410') });
    const told = w.receiver.received.filter(({ path }) => path !== '/gone');
    const notices = told.filter(({ event }) => event.event === 'webhook.deactivated');
    expect(notices).toMatchObject([
      { path: '/other', event: { event: 'webhook.deactivated', webhookId: id } },
    ]);
    expect(told.filter(({ path }) => path === '/calls')).toEqual([]);
    expect((await w.statuses())[0]).toEqual(['failed', 1, 'HTTP 410']);
  });

  it('a webhook endpoint that fails for five days is switched off, and one that succeeds in between is not', async () => {
    await using w = await opened();
    let isWell = false;
    w.receiver.answers(({ path }, response) => {
      response.writeHead(path === '/mended' && isWell ? 200 : 500).end();
    });
    await w.register('/broken');
    await w.register('/mended');
    for (const day of [0, 1, 2, 3, 4, 5, 6]) {
      isWell = day === 3;
      await w.happened(w.accountId);
      await w.tick();
      w.pass(FIVE_DAYS_MS / 5);
    }
    const found = await w.webhooks.list(w.accountId);
    expect(found.map(({ active }) => active)).toEqual([false, true]);
  });

  it('a webhook endpoint whose secret was sealed under another key gets nothing, and its failure says what to do', async () => {
    await using w = await opened();
    await w.register();
    await w.sql`update webhooks set sealed_secret = decode(repeat('00', 99), 'hex')`;
    await w.happened(w.accountId);
    await w.tick();
    expect(w.receiver.received).toEqual([]);
    expect(await w.statuses()).toEqual([['retrying', 1, expect.stringContaining('rotate it')]]);
  });

  it('a webhook endpoint that is switched off or deleted gets none of its queued deliveries', async () => {
    await using w = await opened();
    const kept = await w.register('/off');
    const deleted = await w.register('/deleted');
    await w.happened(w.accountId, 3);
    await dispatchEvents(w.sql, 100);
    await w.webhooks.change({ accountId: w.accountId, id: kept.id }, { active: false });
    await w.webhooks.remove({ accountId: w.accountId, id: deleted.id });
    await w.tick();
    expect(w.receiver.received).toEqual([]);
    expect(await failStranded(w.sql)).toBe(6);
    expect(await failStranded(w.sql)).toBe(0);
    expect(new Set((await w.statuses()).map(([status]) => status))).toEqual(new Set(['failed']));
  });

  it('a webhook endpoint with a limit per second gets no more than that in any second, from all processes together', async () => {
    await using w = await opened({ processes: 3 });
    await w.register('/', { maxPerSecond: 5 });
    await w.happened(w.accountId, 18);
    const counts: number[] = [];
    for (let second = 0; second < 5; second++) {
      for (let n = 0; n < 3; n++) await w.tick();
      counts.push(w.receiver.received.length);
      w.pass(1_000);
    }
    expect(counts).toEqual([5, 10, 15, 18, 18]);
  });

  it('a webhook endpoint gets its failed deliveries again, oldest first, under the same delivery ids', async () => {
    await using w = await opened();
    w.receiver.answers((_, response) => response.writeHead(500).end());
    const { id } = await w.register();
    const recoveries = createWebhookRecoveries({ sql: w.sql });
    await w.happened(w.accountId, WEBHOOK_LIMITS.kept.requeuedPerStep + 5);
    for (const ms of [0, 61_000, 301_000]) {
      w.pass(ms);
      await w.tick();
    }
    expect(new Set((await w.statuses()).map(([status]) => status))).toEqual(new Set(['failed']));
    const before = w.receiver.received.map(({ headers }) => headers['webhook-id']);
    w.receiver.received.length = 0;
    w.receiver.answers((_, response) => response.writeHead(200).end());
    const place = { accountId: w.accountId, id };
    const span = { since: new Date(0), until: new Date(w.now() + 86_400_000) };
    const { id: recoveryId } = await recoveries.recover(place, span);
    await expect(recoveries.recover(place, span)).rejects.toThrow('recovery_running');
    let steps = 0;
    while (await stepRecovery(w.sql, w.now())) steps++;
    expect(steps).toBe(2);
    await w.tick();
    const again = w.receiver.received.map(({ headers }) => headers['webhook-id']);
    expect(new Set(again)).toEqual(new Set(before));
    const recovery = await recoveries.recovery(place, recoveryId);
    expect(recovery).toMatchObject({ requeued: WEBHOOK_LIMITS.kept.requeuedPerStep + 5 });
    expect(recovery.finishedAt).not.toBeNull();
    expect(new Set((await w.statuses()).map(([status]) => status))).toEqual(new Set(['success']));
  });
});

describe('the queue of deliveries', () => {
  it('webhook deliveries are claimed by index alone, however long the queue is', async () => {
    await using w = await opened();
    const { id } = await w.register();
    await w.sql`insert into webhook_deliveries (delivery_id, webhook_id, account_id, event, payload, due_at)
      select md5(n::text), ${id}, ${w.accountId}, 'test', '{}', now() + n * interval '1 millisecond'
      from generate_series(1, 20000) n`;
    await w.sql`analyze webhook_deliveries`;
    const plans: string[] = [];
    const rows = await w.sql<{ 'QUERY PLAN': string }[]>`
      explain select id from webhook_deliveries
      where webhook_id = ${id} and due_at is not null and due_at <= now()
      order by due_at limit 16 for update skip locked`;
    plans.push(...rows.map((row) => row['QUERY PLAN']));
    const steps = await w.sql<{ 'QUERY PLAN': string }[]>`
      explain select webhook_id from webhook_deliveries
      where due_at is not null and webhook_id > 0 order by webhook_id, due_at limit 1`;
    plans.push(...steps.map((row) => row['QUERY PLAN']));
    const plan = plans.join('\n');
    expect(plan).toContain('webhook_deliveries_due');
    expect(plan).toMatch(/Index Only Scan using webhook_deliveries_due/);
    expect(plan).not.toContain('Seq Scan');
    expect(plan).not.toContain('Sort');
    const beganMs = performance.now();
    const claimed = await claimDue(w.sql, {
      busy: new Map(),
      limit: 256,
      nowMs: Date.now() + 60_000,
    });
    expect(claimed).toHaveLength(WEBHOOK_LIMITS.queue.inFlightPerEndpoint);
    expect(performance.now() - beganMs).toBeLessThan(250);
    expect((await readBacklog(w.sql, Date.now() + 60_000)).due).toBeGreaterThan(19_000);
  });

  it('webhook deliveries older than thirty days are pruned, except the first settlement of an agent', async () => {
    await using w = await opened();
    await w.register();
    await w.happened(w.accountId, 3);
    await w.happened(w.accountId, 1, 'x402.first_settlement');
    await w.tick();
    await w.sql`update webhook_deliveries set created_at = now() - interval '31 days'`;
    await w.sql`update events set created_at = now() - interval '31 days'`;
    expect(await pruneOld(w.sql)).toBe(false);
    expect(await w.statuses()).toEqual([]);
    const [left] = await w.sql`select count(*)::int as n, min(name) as name from events`;
    expect(left).toEqual({ n: 1, name: 'x402.first_settlement' });
  });

  it('webhook subscriptions match event patterns as the catalogue does', async () => {
    await using w = await opened();
    const patterns = ['*', 'call.*', 'call.report.*', 'call.ended', 'key.*', 'agent.created'];
    for (const [n, pattern] of patterns.entries()) await w.register(`/${n}`, { events: [pattern] });
    const names = ['call.ended', 'call.report.ready', 'key.rotated', 'agent.created'];
    for (const name of names) await w.happened(w.accountId, 1, name);
    await w.tick();
    for (const [n, pattern] of patterns.entries()) {
      const got = w.receiver.received.filter(({ path }) => path === `/${n}`);
      expect(got.map(({ event }) => String(event.event)).sort(), pattern).toEqual(
        names.filter((name) => matchesEvent(pattern, name)).sort(),
      );
    }
  });
});
