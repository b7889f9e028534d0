import { describe, expect, it } from 'vitest';
import { createLedger } from '../../../src/actors/ledger.ts';
import { MAIN_PURSE, openPurses, Purses } from '../../../src/actors/purses.ts';
import { openPurse } from '../../../src/actors/voice-purse.ts';
import type { Source } from '../../../src/gateway/catalogue.ts';
import { LIMITS } from '../../../src/kernel/limits.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { ManualClock } from '../../../src/kernel/manual-clock.ts';
import type { Ledger, Spender } from '../../../src/ledger/ledger.ts';
import { CallTimeout } from '../../../src/store/transient.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { ACTIVE, MemoryLedger } from '../../support/fakes/memory-ledger.ts';
import { policyOf } from '../../support/spending.ts';
import { AGENT, settleAll } from '../../support/voice-world.ts';

const source: Source = {
  ...{ rail: 'direct-account', provider: 'p', upstreamModel: 'm', rates: {}, marginBps: 0 },
};
const OUTCOME = { reason: 'closed', status: 'success' } as const;

const opening =
  (ledger: Ledger, clock: ManualClock, spender: Spender = { agentId: AGENT }) =>
  (name: string, reserveRaw: bigint) => {
    const sessionId = `sess_1.${name}`;
    const owner = { spender, sessionId, kind: 'realtime', source } as const;
    const deps = { ledger, clock, log: silentLog };
    return openPurse(deps, { ...owner, model: `${name}/m` }, reserveRaw);
  };

async function world() {
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 1_000n, reference: 'world' });
  let mayOpen = Promise.resolve();
  let opened = 0;
  const open = opening(ledger, new ManualClock());
  const purses = new Purses(async (name, reserveRaw) => {
    opened++;
    await mayOpen;
    return open(name, reserveRaw);
  });
  return {
    ...{ ledger, purses },
    opened: () => opened,
    holdOpening(until: Promise<void>) {
      mayOpen = until;
    },
  };
}

describe('the purses of a session', () => {
  it('are opened once each however many ask at the same time, hold what is asked, and settle to what was bought', async () => {
    const { ledger, opened, purses } = await world();
    await Promise.all([purses.hold('a', 10n), purses.hold('a', 30n), purses.hold('b', 5n)]);
    expect([opened(), ledger.openHolds(), purses.heldRaw]).toEqual([2, 2, 35n]);
    const bill = { usage: { request: 1 } };
    const bills = [
      { ...bill, purse: 'a', costRaw: 20n },
      { ...bill, purse: 'b', costRaw: 5n },
    ];
    expect(await purses.journal(bills)).toBe('written');
    // What was spent is held no more for what comes.
    expect(await purses.makeWhole({ a: 30n, b: 0n })).toEqual({ kind: 'extended' });
    expect(purses.heldRaw).toBe(55n);
    await Promise.all([purses.settle(OUTCOME), purses.settle(OUTCOME)]);
    expect(ledger.charges.map(({ costRaw }) => costRaw)).toEqual([20n, 5n]);
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([0, 25n]);
  });

  it('say that nothing is written behind their settlement', async () => {
    const { ledger, purses } = await world();
    await purses.hold('a', 10n);
    await purses.settle(OUTCOME);
    expect(await purses.journal([{ purse: 'a', costRaw: 4n, usage: {} }])).toBe('lost');
    expect(await purses.hold('a', 20n)).toEqual({ kind: 'lost' });
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([0, 0n]);
  });

  it('leave nothing held where one of them cannot be opened', async () => {
    const { ledger, purses } = await world();
    const refusal = openPurses(purses, () =>
      purses.makeWhole({ [MAIN_PURSE]: 10n, a: 2_000n, b: 10n }),
    );
    await expect(refusal).rejects.toMatchObject({ status: 402 });
    expect([ledger.openHolds(), ledger.charges]).toEqual([0, []]);
  });

  it('settle one that is opened while they are settled, and open none after', async () => {
    const { holdOpening, ledger, opened, purses } = await world();
    let open = () => {};
    holdOpening(new Promise((resolve) => (open = resolve)));
    const late = purses.hold('a', 10n);
    const settled = purses.settle(OUTCOME);
    open();
    expect(await late).toEqual({ kind: 'lost' });
    await settled;
    expect(ledger.openHolds()).toBe(0);
    expect(await purses.hold('b', 1n)).toEqual({ kind: 'lost' });
    expect(opened()).toBe(1);
  });

  it('hold nothing more where another process has taken one, and settle the rest with what is still bought', async () => {
    const { ledger, purses } = await world();
    await purses.makeWhole({ a: 10n, b: 10n });
    await purses.journal([{ purse: 'b', costRaw: 4n, usage: {} }]);
    ledger.takeOver('sess_1.a');
    expect(await purses.hold('a', 20n)).toEqual({ kind: 'lost' });
    expect(await purses.hold('b', 20n)).toEqual({ kind: 'lost' });
    await settleAll();
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([2, 0n]);
    const bills = ['a', 'b'].map((purse) => ({ purse, costRaw: 3n, usage: {} }));
    expect(await purses.journal(bills)).toBe('lost');
    await purses.settle(OUTCOME);
    // The one that was taken is the other's to settle.
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([1, 7n]);
  });
});

/** The ledger itself, over a store in memory that can be away. */
async function ledgerWorld({
  creditRaw = 10_000n,
  rules = ACTIVE,
  spender = { agentId: AGENT } as Spender,
} = {}) {
  const store = new MemoryLedger();
  store.addAgent(AGENT, rules);
  const clock = new ManualClock();
  const ledger = createLedger({ store, clock, log: silentLog });
  await ledger.credit({ agentId: AGENT, amountRaw: creditRaw, reference: 'world' });
  const purses = new Purses(opening(ledger, clock, spender));
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      clock.advance(500);
      await settleAll();
    }
  };
  /** What is asked while the store is away for longer than anybody waits; then it is back, and has what was sent to it. */
  async function unanswered(ask: () => Promise<unknown>): Promise<void> {
    const { apply } = store;
    store.apply = () => Promise.reject(new CallTimeout('away'));
    const asked = expect(ask()).rejects.toThrow();
    await pass(LIMITS.ledgerGiveUpMs * 1.5);
    store.apply = apply;
    await asked;
    await pass(10_000);
  }
  return { purses, store, unanswered };
}

describe('the purses of a session whose ledger did not answer in time', () => {
  it('go on behind an extension that came to pass all the same, and settle to what was bought', async () => {
    const { purses, store, unanswered } = await ledgerWorld();
    await purses.hold('a', 100n);
    await purses.journal([{ purse: 'a', costRaw: 40n, usage: {} }]);
    await unanswered(() => purses.hold('a', 150n));
    expect(await purses.hold('a', 300n)).toMatchObject({ kind: 'extended' });
    expect(purses.heldRaw).toBe(340n);
    await purses.settle(OUTCOME);
    expect([store.holds.size, store.require(AGENT).state.consumedRaw]).toEqual([0, 40n]);
  });

  it('settle such an extension, too, where nothing was asked behind it', async () => {
    const { purses, store, unanswered } = await ledgerWorld();
    await purses.hold('a', 100n);
    await purses.journal([{ purse: 'a', costRaw: 40n, usage: {} }]);
    await unanswered(() => purses.hold('a', 150n));
    await purses.settle(OUTCOME);
    expect([store.holds.size, store.require(AGENT).state.consumedRaw]).toEqual([0, 40n]);
  });

  it('buy nothing out of one whose opening came to pass when nobody waited any more', async () => {
    const { purses, store, unanswered } = await ledgerWorld();
    await unanswered(() => purses.hold('b', 100n));
    await expect(purses.hold('b', 100n)).rejects.toThrow();
    await purses.settle(OUTCOME);
    expect([store.holds.size, store.require(AGENT).state.heldRaw]).toEqual([0, 0n]);
  });
});

describe('two who make a purse whole at once', () => {
  it('hold what is wanted once, of a balance and under a cap that have no more', async () => {
    const policy = policyOf({ limitRaw: 170n, action: 'suspend_agent' });
    const rules = { ...ACTIVE, policies: [policy] };
    const { purses, store } = await ledgerWorld({ creditRaw: 170n, rules });
    await purses.makeWhole({ a: 100n });
    await purses.journal([{ purse: 'a', costRaw: 60n, usage: {} }]);
    const whole = { a: 100n };
    expect(await Promise.all([purses.makeWhole(whole), purses.makeWhole(whole)])).toMatchObject([
      { kind: 'extended' },
      { kind: 'extended' },
    ]);
    expect([purses.heldRaw, store.require(AGENT).rules.status]).toEqual([160n, 'active']);
  });
});

describe('a purse under a cap that stops its agent', () => {
  it('is not filled beyond it for what nobody wants yet, and stops nobody over that', async () => {
    const policy = policyOf({ limitRaw: 170n, action: 'suspend_agent' });
    const { purses, store } = await ledgerWorld({ rules: { ...ACTIVE, policies: [policy] } });
    const status = () => store.require(AGENT).rules.status;
    await purses.hold('a', 100n);
    expect(await purses.holdQuietly('a', 160n)).toBe(true);
    expect(await purses.holdQuietly('a', 180n)).toBe(false);
    expect(await purses.holdQuietly('b', 1n)).toBe(false);
    expect([purses.heldRaw, status()]).toEqual([160n, 'active']);
    expect(await purses.hold('a', 180n)).toMatchObject({ refusal: { suspended: true } });
    expect(status()).toBe('suspended');
  });
});

describe('a purse whose caller says what the task is worth', () => {
  it.each([
    [5_000, 10n],
    [undefined, 20n],
    [20_000, 40n],
  ])('is extended at %s as far as it could be opened: to %s', async (taskValueBps, capRaw) => {
    const policy = policyOf({ limitRaw: 20n, limitFloorRaw: 5n, limitCeilingRaw: 50n });
    const rules = { ...ACTIVE, policies: [policy] };
    const spender = { agentId: AGENT, ...(taskValueBps !== undefined && { taskValueBps }) };
    const refusal = { refusal: { reason: 'cap_exceeded', breach: { capRaw } } };
    const { purses } = await ledgerWorld({ rules, spender });
    expect(await purses.hold('a', capRaw + 1n)).toMatchObject(refusal);
    await purses.hold('a', 8n);
    expect(await purses.hold('a', capRaw + 1n)).toMatchObject(refusal);
    expect(await purses.hold('a', capRaw)).toMatchObject({ kind: 'extended' });
  });
});
