import { describe, expect, it } from 'vitest';
import type { AgentCaller, DeveloperCaller } from '../../../src/http/route/caller.ts';
import { renderError } from '../../../src/http/route/render-error.ts';
import type { FreshWork, IdempotencyVerdict } from '../../../src/idempotency/idempotency.ts';
import { createAnswerKeeper } from '../../../src/idempotency/keep-answers.ts';
import { createOutcomeKeeper } from '../../../src/idempotency/keep-outcomes.ts';
import type { ApiError } from '../../../src/kernel/api-error.ts';
import { LIMITS } from '../../../src/kernel/limits.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { ManualClock } from '../../../src/kernel/manual-clock.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { memoryKeys } from '../../support/fakes/memory-keys.ts';

const agent = (agentId: number) => ({ kind: 'agent', agentId }) as AgentCaller;
const developer = { kind: 'developer', accountId: '1' } as DeveloperCaller;
const MINUTES_10 = 600_000;
const LOST = Object.assign(new Error('lost'), { code: 'CONNECTION_CLOSED' });

function world() {
  const clock = new ManualClock();
  const keys = memoryKeys(() => clock.now(), MINUTES_10);
  const lease = {
    reaps: true,
    renewals: 0,
    mayReap: () => lease.reaps,
    async tick() {
      lease.renewals++;
      keys.renewLease();
    },
  };
  const deps = { clock, random: systemRandom, log: silentLog };
  const outcomes = createOutcomeKeeper({ keys, ...deps });
  const kept: string[] = [];
  const keeper = createAnswerKeeper({
    keys,
    outcomes,
    lease,
    ...deps,
    onKept: async () => void kept.push('kept'),
  });
  const begin = (
    more: { key?: string; path?: string; caller?: AgentCaller | DeveloperCaller } = {},
  ) =>
    keeper.begin({
      caller: agent(1),
      key: 'k',
      method: 'POST',
      path: '/v1/buy',
      ...more,
      render: (refusal) => renderError(refusal, 'openai', () => silentLog),
    });
  const fresh = async (more = {}): Promise<FreshWork> => {
    const verdict = await begin(more);
    if (verdict.kind !== 'fresh') throw new Error('was not fresh');
    return verdict;
  };
  const refused = async (more = {}): Promise<ApiError> => {
    try {
      await begin(more);
    } catch (error) {
      return error as ApiError;
    }
    throw new Error('was not refused');
  };
  return { clock, keys, lease, kept, begin, fresh, refused };
}

const answer = (body: string) => ({ status: 201, headers: { 'content-type': 'text/plain' }, body });
const textOf = (verdict: IdempotencyVerdict) =>
  verdict.kind === 'replay' ? Buffer.from(verdict.answer.body as Uint8Array).toString() : undefined;

describe('a key', () => {
  it('replays the first answer for ten minutes from then, and is free afterwards', async () => {
    const w = world();
    const work = await w.fresh();
    w.clock.advance(300_000);
    expect(await work.store(answer('first'))).toEqual(answer('first'));
    w.clock.advance(MINUTES_10 - 1);
    const replay = await w.begin();
    expect(textOf(replay)).toBe('first');
    expect(replay).toMatchObject({ answer: { status: 201 } });
    w.clock.advance(1);
    expect((await w.fresh()).workId).not.toBe(work.workId);
  });

  it('is reported when its answer is stored, before a caller has that answer', async () => {
    const w = world();
    const work = await w.fresh();
    const storing = work.store(answer('first')).then(() => w.kept.push('answered'));
    expect(w.kept).toEqual([]);
    await storing;
    expect(w.kept).toEqual(['kept', 'answered']);
    expect(textOf(await w.begin())).toBe('first');
    expect(w.kept).toHaveLength(2);
  });

  it('is in flight until it is answered, however long that takes in a living process', async () => {
    const w = world();
    await w.fresh();
    w.clock.advance(2 * MINUTES_10);
    const refusal = await w.refused();
    expect(refusal).toMatchObject({
      status: 409,
      error: 'request_in_flight',
      fields: { idempotency_key: 'k' },
      headers: { 'x-should-retry': 'false' },
    });
  });

  it('is another key for another agent, and for an account of the same number', async () => {
    const w = world();
    const works = [
      await w.fresh(),
      await w.fresh({ caller: agent(2) }),
      await w.fresh({ caller: developer }),
    ];
    expect(new Set(works.map(({ workId }) => workId)).size).toBe(3);
  });

  it('that was used for another route is refused, in flight and after', async () => {
    const w = world();
    const work = await w.fresh();
    const path = '/v1/other';
    expect(await w.refused({ path })).toMatchObject({ error: 'idempotency_key_reused' });
    await work.store(answer('first'));
    expect((await w.refused({ path })).fields.message).toContain('POST /v1/buy');
  });

  it('is free at once when nothing was decided', async () => {
    const w = world();
    await (await w.fresh()).abandon();
    await w.fresh();
  });

  it('whose answer is too long cannot be replayed, nor run again', async () => {
    const w = world();
    const work = await w.fresh();
    await work.store(answer('x'.repeat(LIMITS.idempotencyAnswerBytes + 1)));
    expect(await w.refused()).toMatchObject({ status: 409, error: 'response_not_replayable' });
    const other = await w.fresh({ key: 'exactly' });
    await other.store(answer('x'.repeat(LIMITS.idempotencyAnswerBytes)));
    expect(await w.begin({ key: 'exactly' })).toMatchObject({ kind: 'replay' });
  });

  it('is taken once though the answer to its claim was lost', async () => {
    const w = world();
    w.keys.failures.push(LOST);
    const begun = w.fresh();
    await new Promise((resolve) => setImmediate(resolve));
    w.clock.advance(1_000);
    await (await begun).store(answer('first'));
    expect(textOf(await w.begin())).toBe('first');
  });
});

describe('a streamed answer', () => {
  const stream = async function* () {
    yield Buffer.from('one ');
    yield Buffer.from('two');
  };

  it('is in flight while it is sent, and is replayed whole', async () => {
    const w = world();
    const sent = await (await w.fresh()).store({ ...answer(''), body: stream() });
    const reader = (sent.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await reader.next();
    expect((await w.refused()).error).toBe('request_in_flight');
    while ((await reader.next()).done !== true);
    expect(textOf(await w.begin())).toBe('one two');
  });

  it('that its reader left is never run again, nor replayed in part', async () => {
    const w = world();
    const sent = await (await w.fresh()).store({ ...answer(''), body: stream() });
    for await (const _ of sent.body as AsyncIterable<Uint8Array>) break;
    expect((await w.refused()).error).toBe('response_not_replayable');
  });
});

describe('the key of a process that died', () => {
  it('stays in flight while what it held is undecided', async () => {
    const w = world();
    const { workId } = await w.fresh();
    w.keys.die();
    w.keys.fates.set(workId, { kind: 'undecided' });
    expect((await w.refused()).error).toBe('request_in_flight');
    w.clock.advance(2 * MINUTES_10);
    expect((await w.refused()).error).toBe('request_in_flight');
  });

  it('is free once nothing was charged, for one of those who ask and under another work id', async () => {
    const w = world();
    const { workId } = await w.fresh();
    w.keys.die();
    const verdicts = await Promise.allSettled([w.fresh(), w.fresh(), w.fresh()]);
    const won = verdicts.filter((verdict) => verdict.status === 'fulfilled');
    expect(won).toHaveLength(1);
    expect(won[0]?.value.workId).not.toBe(workId);
  });

  it('is never run again when it was paid for: it answers so for the rest of its time, in the route’s envelope', async () => {
    const w = world();
    const { workId } = await w.fresh();
    w.keys.die();
    w.keys.fates.set(workId, { kind: 'charged', chargedRaw: 7_350n, reservation: null });
    w.clock.advance(MINUTES_10 - 1_000);
    const first = await w.begin();
    expect(first).toMatchObject({
      kind: 'replay',
      answer: { status: 502, headers: { 'x-should-retry': 'false' } },
    });
    expect(JSON.parse(textOf(first) ?? '')).toMatchObject({
      hold: workId,
      charged: '7350',
      error: { type: 'upstream_error', code: 'upstream_paid_request_failed_ambiguous' },
    });
    expect(textOf(await w.begin())).toBe(textOf(first));
    w.clock.advance(1_000);
    await w.fresh();
  });

  it('is left alone while this process cannot tell the dead from the living', async () => {
    const w = world();
    await w.fresh();
    w.keys.die();
    w.lease.reaps = false;
    expect((await w.refused()).error).toBe('request_in_flight');
  });

  it('is told from a living one by the lease, which is renewed before anything is taken without it', async () => {
    const w = world();
    w.keys.loseLease();
    await w.fresh();
    expect(w.lease.renewals).toBe(1);
  });
});
