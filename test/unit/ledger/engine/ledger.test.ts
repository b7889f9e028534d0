import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { createLedger } from '../../../../src/ledger/engine/ledger.ts';
import { LEDGER_LIMITS } from '../../../../src/ledger/engine/limits.ts';
import type { AgentBatch, AgentBatchOutcome } from '../../../../src/ledger/rules/change.ts';
import { CallTimeout } from '../../../../src/platform/postgres/transient.ts';
import { MemoryLedger } from '../../../support/fakes/memory-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { DESTINATION, FACTS } from '../../../support/spending.ts';

function world(agents = [1]) {
  const store = new MemoryLedger();
  for (const agentId of agents) store.addAgent(agentId);
  const clock = new ManualClock();
  const ledger = createLedger({ store, clock, log: silentLog });
  const hold = (holdId: string, amountRaw: bigint, agentId = 1) =>
    ledger.hold({ spender: { agentId, keyId: 1 }, holdId, amountRaw, destination: DESTINATION });
  const credit = (amountRaw: bigint, reference = 'c', agentId = 1) =>
    ledger.credit({ agentId, amountRaw, reference });
  const settle = (holdId: string, amountRaw: bigint, actualRaw: bigint) =>
    ledger.settle({
      hold: { holdId, agentId: 1, amountRaw, facts: FACTS },
      actualRaw,
      account: 'gateway',
      source: 'acme',
    });
  const openSession = async () => {
    const verdict = await ledger.openSession({
      spender: { agentId: 1, keyId: 1 },
      sessionId: 's',
      reserveRaw: 10n,
      kind: 'realtime',
      target: 't',
      model: 'm',
      destination: DESTINATION,
      account: 'gateway',
    });
    if (verdict.kind !== 'opened') throw new Error('refused');
    return verdict.claim;
  };
  return { store, clock, ledger, hold, credit, settle, openSession };
}

/** Lets promises and callbacks run until nothing is ready. */
const settleDown = async () => {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
};

const away = () => Promise.reject(new CallTimeout('away'));

describe('createLedger', () => {
  it('the ledger lets exactly as many holds through as the balance covers', async () => {
    const { hold, credit, store } = world();
    await credit(100n);
    const verdicts = await Promise.all(Array.from({ length: 200 }, (_, i) => hold(`h${i}`, 1n)));
    expect(verdicts.filter((verdict) => verdict.kind === 'held')).toHaveLength(100);
    expect(store.violations()).toEqual([]);
  });

  it('the ledger sends all waiting operations of all agents as one call', async () => {
    const { ledger, credit, hold, store } = world([1, 2, 3]);
    for (const agentId of [1, 2, 3]) await credit(10n, `c${agentId}`, agentId);
    const calls: number[] = [];
    const apply = store.apply.bind(store);
    store.apply = (parts) => {
      calls.push(parts.length);
      return apply(parts);
    };
    await Promise.all([hold('a', 1n, 3), hold('b', 1n, 1), hold('c', 1n, 2), hold('d', 1n, 2)]);
    expect(calls).toEqual([3]);
    expect(ledger.counters.operations).toBe(7);
  });

  it('the ledger never has an agent in two calls at once, and at most two calls in flight', async () => {
    const { hold, credit, store, ledger } = world([1, 2, 3]);
    for (const agentId of [1, 2, 3]) await credit(100n, `c${agentId}`, agentId);
    const riding = new Map<number, number>();
    let calls = 0;
    let most = 0;
    store.apply = async (parts) => {
      most = Math.max(most, ++calls);
      for (const { agentId } of parts) {
        expect(riding.get(agentId) ?? 0).toBe(0);
        riding.set(agentId, 1);
      }
      await settleDown();
      const outcomes = store.applyNow(parts);
      for (const { agentId } of parts) riding.set(agentId, 0);
      calls--;
      return outcomes;
    };
    const work = async (c: number) => {
      for (let i = 0; i < 5; i++) {
        for (let wait = 0; wait <= c; wait++) await new Promise((done) => setImmediate(done));
        await hold(`${c}/${i}`, 1n, (c % 3) + 1);
      }
    };
    await Promise.all(Array.from({ length: 9 }, (_, c) => work(c)));
    expect(most).toBe(2);
    expect(ledger.load().waiting).toBe(0);
  });

  it('the ledger decides a refusal again when the balance it was based on is outdated', async () => {
    const { hold, credit, store } = world();
    await credit(1n);
    const balance = store.require(1);
    // Another process credits the agent behind this one's back.
    store.balances.set(1, {
      ...balance,
      state: { ...balance.state, version: 9n, spendableRaw: 50n, creditedRaw: 50n },
    });
    expect((await hold('h', 50n)).kind).toBe('held');
  });

  it('the ledger obeys a suspension at the next hold without a notice', async () => {
    const { hold, credit, store } = world();
    await credit(10n);
    store.changeRules(1, { status: 'suspended' });
    expect(await hold('h', 1n)).toEqual({
      kind: 'refused',
      refusal: { reason: 'agent_suspended' },
    });
  });

  it('the ledger locks the agent’s row after two misses, and the hold then stands', async () => {
    const { hold, credit, store, ledger } = world();
    await credit(10n);
    store.apply = async (parts) => {
      // Another process is always faster, unless the row is locked.
      store.changeRules(1, {});
      return store.applyNow(parts);
    };
    expect((await hold('h', 1n)).kind).toBe('held');
    expect(ledger.counters).toMatchObject({ fences: 1, mostMisses: 2 });
  });

  it('the ledger gives up a row lock that hangs, and decides nothing when the lock comes late', async () => {
    const { hold, credit, store, ledger, clock } = world([1, 2, 3]);
    for (const agentId of [1, 2, 3]) await credit(10n, `c${agentId}`, agentId);
    const apply = store.apply.bind(store);
    let othersAreFaster = true;
    store.apply = (parts) => {
      if (othersAreFaster) for (const { agentId } of parts) store.changeRules(agentId, {});
      return apply(parts);
    };
    const late: (() => Promise<unknown>)[] = [];
    const fenced = store.fenced.bind(store);
    // As many as there are slots hang; the third agent must get its turn all the same.
    store.fenced = (agentId, decide) => {
      if (late.length >= LEDGER_LIMITS.fence.inFlight) return fenced(agentId, decide);
      return new Promise((_, fail) => {
        late.push(() => fenced(agentId, decide).catch(fail));
      });
    };
    for (const agentId of [1, 2, 3]) hold(`h${agentId}`, 4n, agentId).catch(() => {});
    await settleDown();
    expect([late.length, ledger.load().waiting]).toEqual([2, 3]);
    othersAreFaster = false;
    clock.advance(LEDGER_LIMITS.calls.timeoutMs);
    await settleDown();
    expect([1, 2, 3].map((id) => store.postings.has(`hold:h${id}`))).toEqual([true, true, true]);
    const written = store.postings.size;
    expect(await Promise.all(late.map((arrive) => arrive()))).toEqual([undefined, undefined]);
    expect(store.postings.size).toBe(written);
    expect(store.violations()).toEqual([]);
    expect(ledger.load().waiting).toBe(0);
  });

  it('the ledger answers no caller until the outcome of a lost call is known, and moves money once', async () => {
    const { hold, credit, store, ledger, clock } = world();
    await credit(10n);
    let failures = 3;
    const apply = async (parts: readonly AgentBatch[]): Promise<readonly AgentBatchOutcome[]> => {
      const outcomes = store.applyNow(parts);
      return failures-- > 0 ? away() : outcomes;
    };
    store.apply = apply;
    const verdict = hold('h', 4n);
    for (let i = 0; i < 5; i++) {
      await settleDown();
      clock.advance(LEDGER_LIMITS.calls.retryMs.max);
    }
    expect((await verdict).kind).toBe('held');
    expect(store.require(1).state).toMatchObject({ spendableRaw: 6n, heldRaw: 4n });
    expect(ledger.counters.resends).toBe(3);
  });

  it('the ledger keeps waiting operations while the database’s host name does not resolve', async () => {
    const { ledger, credit, store, clock } = world();
    await credit(10n);
    ledger.invalidate(1);
    let isAway = true;
    const load = store.load.bind(store);
    store.load = (agentId) =>
      isAway ? Promise.reject(Object.assign(new Error(), { code: 'ENOTFOUND' })) : load(agentId);
    const credited = credit(5n, 'later');
    for (let i = 0; i < 3; i++) {
      await settleDown();
      clock.advance(LEDGER_LIMITS.calls.retryMs.max);
    }
    isAway = false;
    await settleDown();
    clock.advance(LEDGER_LIMITS.calls.retryMs.max);
    expect((await credited).kind).toBe('credited');
  });

  it('the ledger rejects callers while the database is unreachable, and releases the hold of a caller that gave up', async () => {
    const { hold, credit, store, ledger, clock } = world();
    await credit(10n);
    let isAway = true;
    store.apply = async (parts) => {
      const outcomes = store.applyNow(parts);
      return isAway ? away() : outcomes;
    };
    const told = expect(hold('h', 4n)).rejects.toMatchObject({ error: 'ledger_unavailable' });
    for (let i = 0; i < 30; i++) {
      await settleDown();
      clock.advance(1_000);
    }
    await told;
    expect(store.require(1).state.heldRaw).toBe(4n);
    isAway = false;
    for (let i = 0; i < 5; i++) {
      await settleDown();
      clock.advance(1_000);
    }
    expect(store.require(1).state).toMatchObject({ spendableRaw: 10n, heldRaw: 0n });
    expect(ledger.load().waiting).toBe(0);
  });

  it('the ledger rejects callers that still wait when it stops with the error that the database is unreachable', async () => {
    const { hold, credit, store, ledger, clock } = world();
    await credit(10n);
    store.apply = () => new Promise(() => {});
    const told = [expect(hold('early', 4n)).rejects.toMatchObject({ status: 503 })];
    const stopped = ledger[Symbol.asyncDispose]();
    const half = async () => {
      for (let ms = 0; ms < LEDGER_LIMITS.calls.giveUpMs / 2; ms += 10) {
        await Promise.resolve();
        clock.advance(10);
      }
    };
    await half();
    // It would be told by itself later than the ledger stops.
    told.push(expect(hold('late', 4n)).rejects.toMatchObject({ status: 503 }));
    await half();
    await stopped;
    await Promise.all(told);
  });

  it('the ledger refuses a hold beyond its full inbox at once, but takes a settlement', async () => {
    const { hold, credit, settle, store, ledger } = world();
    await credit(10n);
    await hold('open', 4n);
    const { promise, release } = gate();
    store.apply = async (parts) => {
      await promise;
      return store.applyNow(parts);
    };
    const waiting = Array.from({ length: LEDGER_LIMITS.batch.inboxOperations }, (_, i) =>
      hold(`h${i}`, 0n),
    );
    await expect(hold('more', 0n)).rejects.toMatchObject({ error: 'ledger_overloaded' });
    expect(ledger.counters.refusedFull).toBe(1);
    const settled = settle('open', 4n, 0n);
    release();
    await Promise.all(waiting);
    expect(await settled).toMatchObject({ kind: 'settled', funds: { heldRaw: 0n } });
    expect(ledger.load().waiting).toBe(0);
  });

  it('the ledger rejects the one operation that cannot be written and carries out the others', async () => {
    const { hold, credit, store, ledger } = world([1, 2]);
    await credit(10n);
    await credit(10n, 'c2', 2);
    store.apply = async (parts) => {
      const poisoned = parts.some((part) =>
        part.changes.some((change) => change.posting?.id === 'hold:poison'),
      );
      if (poisoned) throw new Error('invalid byte sequence');
      return store.applyNow(parts);
    };
    const results = await Promise.allSettled([
      hold('a', 1n),
      hold('poison', 1n),
      hold('b', 1n),
      hold('c', 1n, 2),
    ]);
    expect(results.map((result) => result.status)).toEqual([
      'fulfilled',
      'rejected',
      'fulfilled',
      'fulfilled',
    ]);
    expect(ledger.counters.failed).toBe(1);
  });

  it('the ledger settles a hold that grew while its owner closed the session', async () => {
    const { ledger, credit, openSession, store } = world();
    await credit(100n);
    const claim = await openSession();
    const [extended, closed] = await Promise.all([
      ledger.extend(claim, 5n),
      ledger.closeSession({
        claim,
        reason: 'done',
        actualRaw: 12n,
        account: 'gateway',
        source: 'x',
      }),
    ]);
    expect(extended.kind).toBe('extended');
    expect(closed).toMatchObject({ kind: 'settled', chargedRaw: 12n });
    expect(store.require(1).state).toMatchObject({ spendableRaw: 88n, heldRaw: 0n });
    expect(store.sessions.get('s')?.ended).toBe('done');
    expect(await ledger.extend(claim, 7n)).toEqual({ kind: 'lost' });
  });

  it('the ledger refuses changes to a session that another process has taken over, and moves nothing', async () => {
    const { ledger, credit, openSession, store } = world();
    await credit(100n);
    const claim = await openSession();
    expect(await ledger.journal(claim, [{ seq: 1, costRaw: 2n, usage: {} }])).toBe('written');
    const session = store.sessions.get('s');
    if (session !== undefined) session.epoch = 2;
    expect(await ledger.journal(claim, [{ seq: 2, costRaw: 2n, usage: {} }])).toBe('lost');
    const request = { reason: 'done', actualRaw: 4n, account: 'gateway', source: 'x' } as const;
    expect(await ledger.closeSession({ claim, ...request })).toEqual({ kind: 'already_resolved' });
    expect(store.require(1).state.heldRaw).toBe(10n);
    const taken = { ...claim, epoch: 2 };
    expect(await ledger.closeSession({ claim: taken, ...request })).toMatchObject({
      kind: 'settled',
      chargedRaw: 4n,
    });
  });

  it('the ledger resolves a hold once, repeats the outcome on request, and refuses another resolution', async () => {
    const { hold, credit, settle, store, ledger } = world();
    await credit(10n);
    await hold('h', 5n);
    expect(await settle('h', 5n, 3n)).toMatchObject({ kind: 'settled', chargedRaw: 3n });
    expect(await settle('h', 5n, 3n)).toMatchObject({ kind: 'settled', chargedRaw: 3n });
    expect(await settle('h', 5n, 4n)).toEqual({ kind: 'already_resolved' });
    expect(ledger.counters.conflicts).toBe(1);
    expect(store.require(1).state).toMatchObject({ spendableRaw: 7n, consumedRaw: 3n });
  });

  it('the ledger repeats the outcome of a hold that the balance would no longer cover', async () => {
    const { hold, credit } = world();
    await credit(10n);
    expect((await hold('h', 10n)).kind).toBe('held');
    expect((await hold('h', 10n)).kind).toBe('held');
  });

  it('the ledger refuses an agent that does not exist, and finds the agent once it exists', async () => {
    const { hold, store } = world([]);
    expect(await hold('h', 0n)).toEqual({ kind: 'refused', refusal: { reason: 'agent_unknown' } });
    store.addAgent(1);
    expect((await hold('h', 0n)).kind).toBe('held');
  });

  it('the ledger keeps a bounded number of idle actors, and reads a dropped agent again', async () => {
    const store = new MemoryLedger();
    const ledger = createLedger({ store, clock: new ManualClock(), log: silentLog, actors: 2 });
    for (const agentId of [1, 2, 3, 1]) {
      if (!store.balances.has(agentId)) store.addAgent(agentId);
      const reference = `c${agentId}${ledger.counters.operations}`;
      await ledger.credit({ agentId, amountRaw: 1n, reference });
      expect(ledger.load().actors).toBeLessThanOrEqual(2);
    }
    expect(store.require(1).state.spendableRaw).toBe(2n);
  });
});

function gate() {
  let release = () => {};
  const promise = new Promise<void>((resolve) => {
    release = resolve;
  });
  return { promise, release };
}
