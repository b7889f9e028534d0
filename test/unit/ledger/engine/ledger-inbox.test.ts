import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { LedgerInbox } from '../../../../src/ledger/engine/ledger-inbox.ts';
import { LEDGER_LIMITS } from '../../../../src/ledger/engine/limits.ts';
import { ACTIVE } from '../../../support/fakes/memory-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { DESTINATION } from '../../../support/spending.ts';

const never = () => new Promise<never>(() => {});

const holdOf = (n: number) => ({
  ...({
    kind: 'hold',
    agentId: 1,
    spender: { agentId: 1 },
    holdId: `h${n}`,
    amountRaw: 1n,
  } as const),
  destination: DESTINATION,
  session: null,
  reservation: null,
});

const STATE = {
  version: 1n,
  rulesVersion: 1n,
  spendableRaw: 9n,
  heldRaw: 0n,
  creditedRaw: 9n,
  consumedRaw: 0n,
  walletRaw: 9n,
  promisedRaw: 0n,
  counters: [],
};

describe('who reads what an agent did', () => {
  it('a read of an agent waits for the agent’s earlier operations, and for none when all are done', async () => {
    let say = (_: undefined) => {};
    const load = () =>
      new Promise<undefined>((resolve) => {
        say = resolve;
      });
    const store = { load, apply: never, fenced: never };
    const inbox = new LedgerInbox({ store, clock: new ManualClock(), log: silentLog });
    await inbox.settled(1);
    const held = inbox.submit(holdOf(1));
    let isSettled = false;
    const settled = inbox.settled(1).then(() => {
      isSettled = true;
    });
    await inbox.settled(2);
    expect(isSettled).toBe(false);
    // There is no such agent.
    say(undefined);
    await settled;
    expect(await held).toEqual({ kind: 'agent_unknown' });
    await inbox.settled(1);
  });
});

describe('what is remembered of an agent', () => {
  const after = { ...STATE, version: 2n, spendableRaw: 8n, heldRaw: 1n };

  async function remembering() {
    const clock = new ManualClock();
    const store = {
      load: async () => ({ state: STATE, rules: ACTIVE }),
      apply: async () => [{ kind: 'applied', state: after } as const],
      fenced: never,
    };
    const inbox = new LedgerInbox({ store, clock, log: silentLog, soon: queueMicrotask });
    expect(inbox.recall(1)).toBeUndefined();
    await inbox.submit(holdOf(1));
    return { inbox, clock };
  }

  it('the inbox recalls the last state of an agent that the database returned, for a second', async () => {
    const { inbox, clock } = await remembering();
    expect(inbox.recall(1)).toEqual({ state: after, rules: ACTIVE });
    clock.advance(LEDGER_LIMITS.actors.recallMs);
    expect(inbox.recall(1)).toBeDefined();
    clock.advance(1);
    expect(inbox.recall(1)).toBeUndefined();
    expect(inbox.recall(2)).toBeUndefined();
  });

  it('the inbox recalls nothing of an agent whose rules have changed', async () => {
    const { inbox } = await remembering();
    inbox.forget(1);
    expect(inbox.recall(1)).toBeUndefined();
  });
});

describe('an inbox that is full', () => {
  it('a full ledger inbox refuses holds at once, and still accepts settlements and kill switches', async () => {
    const store = { load: never, apply: never, fenced: never };
    const inbox = new LedgerInbox({ store, clock: new ManualClock(), log: silentLog });
    const hold = (n: number) => inbox.submit(holdOf(n));
    for (let n = 0; n < LEDGER_LIMITS.batch.inboxOperations; n++) void hold(n).catch(() => {});
    await expect(hold(-1)).rejects.toMatchObject({ status: 503 });
    expect(inbox.waiting).toBe(LEDGER_LIMITS.batch.inboxOperations);
    void inbox.submit({ kind: 'suspend', agentId: 1, policyId: 1 }).catch(() => {});
    expect(inbox.waiting).toBe(LEDGER_LIMITS.batch.inboxOperations + 1);
  });
});
