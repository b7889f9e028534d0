import { describe, expect, it } from 'vitest';
import { ok, route } from '../../../src/http/route/route.ts';
import { IDEMPOTENCY_LIMITS } from '../../../src/idempotency/limits.ts';
import { openSql } from '../../../src/platform/postgres/sql.ts';
import { type CutProxy, cutProxy } from '../../support/cut-proxy.ts';
import { testDatabase } from '../../support/database.ts';
import { bearer, KEYS } from '../../support/edge.ts';
import { startKeyedEdge } from '../../support/keyed-edge.ts';

/** The edge with its keys behind a line that can be cut, and a route that cuts it while it works. */
async function world() {
  const db = await testDatabase();
  const proxy = await cutProxy(db.target);
  const sql = openSql(proxy.target, 2);
  const play = { runs: 0, cut: (_: CutProxy) => {} };
  const buy = route()({
    method: 'POST',
    path: '/v1/buy',
    credential: 'agent',
    summary: 'test',
    idempotent: true,
    handle() {
      play.cut(proxy);
      return ok({ run: ++play.runs });
    },
  });
  const edge = await startKeyedEdge(sql, [buy]);
  const post = async () => {
    const askedMs = performance.now();
    const answer = await fetch(`${edge.url}/v1/buy`, {
      method: 'POST',
      headers: { ...bearer(KEYS.agent), 'idempotency-key': 'k' },
    });
    const body = (await answer.json()) as Record<string, unknown>;
    const isReplay = answer.headers.has('x-svc-idempotent-replay');
    return { status: answer.status, body, isReplay, tookMs: performance.now() - askedMs };
  };
  return {
    db,
    proxy,
    play,
    edge,
    post,
    async [Symbol.asyncDispose]() {
      await edge[Symbol.asyncDispose]();
      await sql.end({ timeout: 1 });
      await proxy[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}

describe('a key whose database connection is lost', () => {
  for (const cut of ['loseNextAnswer', 'loseNextCall'] as const) {
    it(`a response whose key store drops its connection while storing it is kept and replayed (${cut})`, async () => {
      await using w = await world();
      w.play.cut = (proxy) => proxy[cut]();
      expect(await w.post()).toMatchObject({ status: 200, body: { run: 1 }, isReplay: false });
      expect(w.proxy.cuts).toBe(1);
      expect(await w.post()).toMatchObject({ status: 200, body: { run: 1 }, isReplay: true });
    });

    it(`an Idempotency-Key whose store drops its connection while taking it is taken once and run once (${cut})`, async () => {
      await using w = await world();
      w.proxy[cut]();
      expect(await w.post()).toMatchObject({ status: 200, body: { run: 1 }, isReplay: false });
      expect(w.proxy.cuts).toBe(1);
      expect(await w.post()).toMatchObject({ body: { run: 1 }, isReplay: true });
    });
  }

  it('a request whose key store is lost for long is answered in time, and its response is stored on reconnection', async () => {
    await using w = await world();
    w.play.cut = (proxy) => proxy.away(true);
    const first = await w.post();
    expect(first).toMatchObject({ status: 200, body: { run: 1 } });
    expect(first.tookMs).toBeLessThan(IDEMPOTENCY_LIMITS.storeMs + 1_000);
    expect(w.edge.outcomes.size).toBe(1);

    w.proxy.away(false);
    // One call may still be sent over a connection that is about to be made: the next one finds it.
    const unwritten = async () => {
      await w.edge.outcomes.tick();
      return w.edge.outcomes.size;
    };
    await expect.poll(unwritten, { timeout: 10_000 }).toBe(0);
    expect(await w.post()).toMatchObject({ status: 200, body: { run: 1 }, isReplay: true });
  });

  it('a request whose Idempotency-Key cannot be stored is refused with 503 and not run', async () => {
    await using w = await world();
    w.proxy.away(true);
    const refused = await w.post();
    expect([refused.status, refused.body.error]).toEqual([503, 'ledger_unavailable']);
    expect(w.play.runs).toBe(0);
    w.proxy.away(false);
    // The driver may still send what was given up; what it takes is freed.
    const statusThen = async () => {
      await w.edge.outcomes.tick();
      return (await w.post()).status;
    };
    await expect.poll(statusThen, { timeout: 10_000 }).toBe(200);
    expect(w.play.runs).toBe(1);
  });
});
