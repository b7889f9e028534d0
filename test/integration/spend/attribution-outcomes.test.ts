import { describe, expect, it } from 'vitest';
import { findBalance } from '../../../src/ledger/store/balances.ts';
import type { Queryable } from '../../../src/platform/postgres/sql.ts';
import { saveOutcome } from '../../../src/spend/attribution/outcome-store.ts';
import { useAccountsEdge } from '../../support/accounts-edge.ts';
import { rowsReadBy } from '../../support/rows-read.ts';

const accounts = useAccountsEdge();
const { ask } = accounts;

const SUCCESS = { status: 'success', scoreBps: null, note: null } as const;

describe('an outcome', () => {
  it('an outcome is reported by the agent or its developer, the last report is valid and all reports are counted', async () => {
    const { key, headers, path } = await accounts.edge.agentOf('reports');
    const first = await ask('POST', '/v1/agents/actions/Summarize%20Doc-42/outcome', {
      headers: key,
      body: { status: 'partial', scoreBps: 4_200, note: 'half of it\n🙂' },
    });
    expect(first).toMatchObject({ status: 200 });
    expect(first.body).toEqual({
      actionId: 'summarize doc-42',
      outcome: {
        status: 'partial',
        scoreBps: 4_200,
        note: 'half of it\n🙂',
        reportCount: 1,
        reportedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      },
    });
    const second = await ask('POST', `${path}/actions/%20SUMMARIZE%20doc-42/outcome`, {
      headers,
      body: { status: 'failure' },
    });
    expect([second.status, second.body.actionId]).toEqual([200, 'summarize doc-42']);
    expect(second.body.outcome).toMatchObject({
      status: 'failure',
      scoreBps: null,
      note: null,
      reportCount: 2,
    });
    expect(second.body.outcome.reportedAt >= first.body.outcome.reportedAt).toBe(true);
  });

  it('concurrent outcome reports are all counted, and exactly one of them is stored whole', async () => {
    const { key } = await accounts.edge.agentOf('races');
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, i) =>
        ask('POST', '/v1/agents/actions/raced/outcome', {
          headers: key,
          body: { status: i % 2 === 0 ? 'success' : 'failure', scoreBps: i, note: `report ${i}` },
        }),
      ),
    );
    const counts = answers.map(({ body }) => body.outcome.reportCount as number);
    expect(counts.toSorted((a, b) => a - b)).toEqual(counts.map((_, i) => i + 1));
    const last = answers.find(({ body }) => body.outcome.reportCount === 24)?.body.outcome;
    const rows = await accounts.sql`
      select status, score_bps, note, report_count from action_outcomes where action_id = 'raced'`;
    expect(rows).toEqual([
      { status: last.status, score_bps: last.scoreBps, note: last.note, report_count: 24 },
    ]);
    expect(last.note).toBe(`report ${last.scoreBps}`);
    // The one that was written last says so.
    const times = answers.map(({ body }) => body.outcome.reportedAt as string);
    expect(last.reportedAt).toBe(times.toSorted().at(-1));
  });

  it('an outcome is refused when its body has an invalid field', async () => {
    const { key } = await accounts.edge.agentOf('careless with outcomes');
    const send = (body: unknown, id = 'a') =>
      ask('POST', `/v1/agents/actions/${id}/outcome`, { headers: key, body });
    const bad: Record<string, unknown>[] = [
      {},
      { status: 'SUCCESS' },
      { status: null },
      { status: 'success', scoreBps: -1 },
      { status: 'success', scoreBps: 10_001 },
      { status: 'success', scoreBps: 0.5 },
      { status: 'success', scoreBps: '5' },
      { status: 'success', note: 'x'.repeat(501) },
      { status: 'success', note: 'a\0b' },
      { status: 'success', note: '\ud83d' },
      { status: 'success', note: 7 },
    ];
    for (const body of bad) {
      const answer = await send(body);
      expect(answer, JSON.stringify(body)).toMatchObject({
        status: 400,
        body: { error: 'Invalid request', details: [{ path: [expect.any(String)] }] },
      });
    }
    for (const id of ['%20', 'a'.repeat(129), 'gr%C3%B6%C3%9Fe', 'a%00b', 'a%0Ab']) {
      expect(await send({ status: 'success' }, id), id).toMatchObject({
        status: 400,
        body: { error: 'invalid_action_id', message: expect.any(String) },
      });
    }
    expect((await send({ status: 'success' }, '%E0%A4%A')).status).toBe(400);
    const fine = { status: 'unknown', scoreBps: null, note: 'x'.repeat(500), more: 1 };
    expect((await send(fine, `${'A'.repeat(128)}%20`)).status).toBe(200);
    expect((await send({ status: 'success', scoreBps: 0 }, 'a%2Fb')).body.actionId).toBe('a/b');
    expect((await send({ status: 'success', scoreBps: 10_000 })).status).toBe(200);
  });

  it("an outcome needs a key with write permission, of the caller's own agent", async () => {
    const { path, headers, agent } = await accounts.edge.agentOf('owns outcomes');
    const body = { status: 'success' };
    const reading = { headers, body: { permissions: 'read' } };
    const { key } = (await ask('POST', `${path}/keys`, reading)).body;
    const asReader = { headers: { authorization: `Bearer ${key}` }, body };
    expect(await ask('POST', '/v1/agents/actions/a/outcome', asReader)).toMatchObject({
      status: 403,
      body: { error: 'read_only_key' },
    });
    const stranger = { headers: await accounts.edge.developer('reports on others'), body };
    for (const place of [path, '/v1/developer/agents/99999999999']) {
      expect(await ask('POST', `${place}/actions/a/outcome`, stranger)).toMatchObject({
        status: 404,
        body: { error: 'not_found' },
      });
    }
    expect(
      (await ask('POST', '/v1/developer/agents/x/actions/a/outcome', { headers, body })).status,
    ).toBe(400);
    expect((await ask('POST', '/v1/agents/actions/a/outcome', { headers, body })).status).toBe(401);
    const rows = await accounts.sql`
      select 1 from action_outcomes where agent_id = ${agent.agentId}`;
    expect(rows).toEqual([]);
  });
});

describe('quality', () => {
  const HOUR = 3_600;
  const TWO_DAYS = 2 * 86_400;
  let agentId = 0;
  const quality = async (windowSeconds = HOUR, sql: Queryable = accounts.sql) =>
    (await findBalance(sql, agentId))?.rules.quality.get(windowSeconds);

  it('the quality of outcomes is read only for agents with a cap that depends on quality', async () => {
    const { agent } = await accounts.edge.agentOf('quality');
    agentId = agent.agentId;
    expect(await quality()).toBeUndefined();
    await accounts.sql`
      insert into policies (account_id, agent_id, kind, match_key, limit_raw, window_kind, starts_at,
        quality_throttle_floor_bps, quality_window_seconds)
      select account_id, id, 'task', 'of ' || s, 1, 'once', now(), 0, s
      from agents, unnest(array[${HOUR}, ${TWO_DAYS}]::integer[]) as w(s) where id = ${agentId}`;
    expect(await quality()).toBeNull();
  });

  it('the quality of outcomes is unknown before a report, and then the mean of scores and statuses, rounded down', async () => {
    expect(await quality()).toBeNull();
    await saveOutcome(accounts.sql, agentId, 'scored', { ...SUCCESS, scoreBps: 1 });
    expect(await quality()).toBe(1);
    await saveOutcome(accounts.sql, agentId, 'success', SUCCESS);
    expect(await quality()).toBe(5_000);
    await saveOutcome(accounts.sql, agentId, 'partial', { ...SUCCESS, status: 'partial' });
    expect(await quality()).toBe(5_000);
    await saveOutcome(accounts.sql, agentId, 'failure', { ...SUCCESS, status: 'failure' });
    await saveOutcome(accounts.sql, agentId, 'unknown', { ...SUCCESS, status: 'unknown' });
    expect(await quality()).toBe(3_000);
    await saveOutcome(accounts.sql, agentId, 'partial', { ...SUCCESS, scoreBps: 0 });
    expect(await quality()).toBe(2_000);
  });

  it('the quality of outcomes ignores reports before the window, without reading them', async () => {
    await accounts.sql`
      insert into action_outcomes (agent_id, action_id, status, reported_at)
      select ${agentId}, 'old ' || i, 'failure', now() - interval '1 day'
      from generate_series(1, 2000) i`;
    await accounts.sql`analyze action_outcomes`;
    expect(await quality()).toBe(2_000);
    await accounts.sql`delete from policies where quality_window_seconds = ${TWO_DAYS}`;
    const read = await rowsReadBy(accounts.sql, ['action_outcomes'], (tx) => quality(HOUR, tx));
    expect(read).toBeLessThan(50);
    await accounts.sql`update policies set quality_window_seconds = ${TWO_DAYS} where agent_id = ${agentId}`;
    expect(await quality(TWO_DAYS)).toBeLessThan(10);
  });
});
