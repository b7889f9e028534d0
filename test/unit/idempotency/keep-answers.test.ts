import { describe, expect, it } from 'vitest';
import type { AgentCaller, DeveloperCaller } from '../../../src/http/route/caller.ts';
import { renderError } from '../../../src/http/route/render-error.ts';
import type { FreshWork, IdempotencyVerdict } from '../../../src/idempotency/idempotency.ts';
import { createAnswerKeeper } from '../../../src/idempotency/keep-answers.ts';
import { createOutcomeKeeper } from '../../../src/idempotency/keep-outcomes.ts';
import { IDEMPOTENCY_LIMITS } from '../../../src/idempotency/limits.ts';
import type { ApiError } from '../../../src/kernel/api-error.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { memoryKeys } from '../../support/fakes/memory-keys.ts';
import { ManualClock } from '../../support/manual-clock.ts';

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
  it('an idempotency key replays its first response for ten minutes, and is free afterwards', async () => {
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

  it('a stored response is reported as kept before its caller gets the response', async () => {
    const w = world();
    const work = await w.fresh();
    const storing = work.store(answer('first')).then(() => w.kept.push('answered'));
    expect(w.kept).toEqual([]);
    await storing;
    expect(w.kept).toEqual(['kept', 'answered']);
    expect(textOf(await w.begin())).toBe('first');
    expect(w.kept).toHaveLength(2);
  });

  it('an idempotency key stays in flight until its request has a response, however long a living process takes', async () => {
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

  it('the same idempotency key of another agent, or of an account with the same number, is a different key', async () => {
    const w = world();
    const works = [
      await w.fresh(),
      await w.fresh({ caller: agent(2) }),
      await w.fresh({ caller: developer }),
    ];
    expect(new Set(works.map(({ workId }) => workId)).size).toBe(3);
  });

  it('an idempotency key that was used for another route is refused, in flight and afterwards', async () => {
    const w = world();
    const work = await w.fresh();
    const path = '/v1/other';
    expect(await w.refused({ path })).toMatchObject({ error: 'idempotency_key_reused' });
    await work.store(answer('first'));
    expect((await w.refused({ path })).fields.message).toContain('POST /v1/buy');
  });

  it('an idempotency key is free at once when its request was abandoned', async () => {
    const w = world();
    await (await w.fresh()).abandon();
    await w.fresh();
  });

  it('an idempotency key whose response is too long can be neither replayed nor run again', async () => {
    const w = world();
    const work = await w.fresh();
    await work.store(answer('x'.repeat(IDEMPOTENCY_LIMITS.answerBytes + 1)));
    expect(await w.refused()).toMatchObject({ status: 409, error: 'response_not_replayable' });
    const other = await w.fresh({ key: 'exactly' });
    await other.store(answer('x'.repeat(IDEMPOTENCY_LIMITS.answerBytes)));
    expect(await w.begin({ key: 'exactly' })).toMatchObject({ kind: 'replay' });
  });

  it('an idempotency key is claimed once though the database’s reply to the claim was lost', async () => {
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

  it('an idempotency key is in flight while its streamed response is sent, and replays the stream whole', async () => {
    const w = world();
    const sent = await (await w.fresh()).store({ ...answer(''), body: stream() });
    const reader = (sent.body as AsyncIterable<Uint8Array>)[Symbol.asyncIterator]();
    await reader.next();
    expect((await w.refused()).error).toBe('request_in_flight');
    while ((await reader.next()).done !== true);
    expect(textOf(await w.begin())).toBe('one two');
  });

  it('an idempotency key whose streamed response was left by its reader is neither run again nor replayed in part', async () => {
    const w = world();
    const sent = await (await w.fresh()).store({ ...answer(''), body: stream() });
    for await (const _ of sent.body as AsyncIterable<Uint8Array>) break;
    expect((await w.refused()).error).toBe('response_not_replayable');
  });
});

describe('the key of a process that died', () => {
  it('the idempotency key of a dead process stays in flight while its hold is undecided', async () => {
    const w = world();
    const { workId } = await w.fresh();
    w.keys.die();
    w.keys.fates.set(workId, { kind: 'undecided' });
    expect((await w.refused()).error).toBe('request_in_flight');
    w.clock.advance(2 * MINUTES_10);
    expect((await w.refused()).error).toBe('request_in_flight');
  });

  it('the uncharged idempotency key of a dead process goes to one of the waiting requests, under a new work id', async () => {
    const w = world();
    const { workId } = await w.fresh();
    w.keys.die();
    const verdicts = await Promise.allSettled([w.fresh(), w.fresh(), w.fresh()]);
    const won = verdicts.filter((verdict) => verdict.status === 'fulfilled');
    expect(won).toHaveLength(1);
    expect(won[0]?.value.workId).not.toBe(workId);
  });

  it('the charged idempotency key of a dead process is never run again: it replays a 502 in the route’s envelope', async () => {
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

  it('the idempotency key of a dead process stays in flight while this process may not reap other leases', async () => {
    const w = world();
    await w.fresh();
    w.keys.die();
    w.lease.reaps = false;
    expect((await w.refused()).error).toBe('request_in_flight');
  });

  it('a process that lost its lease renews the lease before it claims an idempotency key', async () => {
    const w = world();
    w.keys.loseLease();
    await w.fresh();
    expect(w.lease.renewals).toBe(1);
  });
});
