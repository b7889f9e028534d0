import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { createLedger } from '../../../../src/ledger/engine/ledger.ts';
import { LEDGER_LIMITS } from '../../../../src/ledger/engine/limits.ts';
import type { Ledger } from '../../../../src/ledger/rules/ledger.ts';
import type { Spender } from '../../../../src/ledger/rules/requests.ts';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import { CallTimeout } from '../../../../src/platform/postgres/transient.ts';
import { openSessionHolds } from '../../../../src/voice/billing/hold-turn.ts';
import { openSessionHold } from '../../../../src/voice/billing/session-hold.ts';
import { MAIN_HOLD, SessionHolds } from '../../../../src/voice/billing/session-holds.ts';
import { createFakeLedger } from '../../../support/fake-ledger.ts';
import { ACTIVE, MemoryLedger } from '../../../support/fakes/memory-ledger.ts';
import { ManualClock } from '../../../support/manual-clock.ts';
import { policyOf } from '../../../support/spending.ts';
import { AGENT, settleAll } from '../../../support/voice-world.ts';

const source: Source = {
  rail: 'direct-account',
  provider: 'p',
  upstreamModel: 'm',
  rates: {},
  marginBps: 0,
};
const OUTCOME = { reason: 'closed', status: 'success' } as const;

const opening =
  (ledger: Ledger, clock: ManualClock, spender: Spender = { agentId: AGENT }) =>
  (name: string, reserveRaw: bigint) => {
    const sessionId = `sess_1.${name}`;
    const owner = { spender, sessionId, kind: 'realtime', source } as const;
    const deps = { ledger, clock, log: silentLog };
    return openSessionHold(deps, { ...owner, model: `${name}/m` }, reserveRaw);
  };

async function world() {
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 1_000n, reference: 'world' });
  let mayOpen = Promise.resolve();
  let opened = 0;
  const open = opening(ledger, new ManualClock());
  const sessionHolds = new SessionHolds(async (name, reserveRaw) => {
    opened++;
    await mayOpen;
    return open(name, reserveRaw);
  });
  return {
    ledger,
    sessionHolds,
    opened: () => opened,
    holdOpening(until: Promise<void>) {
      mayOpen = until;
    },
  };
}

describe('the holds of a session', () => {
  it('the holds of a session are opened once each for any number of simultaneous requests, and settle the actual cost', async () => {
    const { ledger, opened, sessionHolds } = await world();
    await Promise.all([
      sessionHolds.hold('a', 10n),
      sessionHolds.hold('a', 30n),
      sessionHolds.hold('b', 5n),
    ]);
    expect([opened(), ledger.openHolds(), sessionHolds.heldRaw]).toEqual([2, 2, 35n]);
    const bill = { usage: { request: 1 } };
    const bills = [
      { ...bill, sessionHold: 'a', costRaw: 20n },
      { ...bill, sessionHold: 'b', costRaw: 5n },
    ];
    expect(await sessionHolds.journal(bills)).toBe('written');
    // What was spent is held no more for what comes.
    expect(await sessionHolds.makeWhole({ a: 30n, b: 0n })).toEqual({ kind: 'extended' });
    expect(sessionHolds.heldRaw).toBe(55n);
    await Promise.all([sessionHolds.settle(OUTCOME), sessionHolds.settle(OUTCOME)]);
    expect(ledger.charges.map(({ costRaw }) => costRaw)).toEqual([20n, 5n]);
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([0, 25n]);
  });

  it('the holds of a session report that nothing is journaled after their settlement', async () => {
    const { ledger, sessionHolds } = await world();
    await sessionHolds.hold('a', 10n);
    await sessionHolds.settle(OUTCOME);
    expect(await sessionHolds.journal([{ sessionHold: 'a', costRaw: 4n, usage: {} }])).toBe('lost');
    expect(await sessionHolds.hold('a', 20n)).toEqual({ kind: 'lost' });
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([0, 0n]);
  });

  it('the holds of a session leave nothing held when one of them cannot be opened', async () => {
    const { ledger, sessionHolds } = await world();
    const refusal = openSessionHolds(sessionHolds, () =>
      sessionHolds.makeWhole({ [MAIN_HOLD]: 10n, a: 2_000n, b: 10n }),
    );
    await expect(refusal).rejects.toMatchObject({ status: 402 });
    expect([ledger.openHolds(), ledger.charges]).toEqual([0, []]);
  });

  it("the settlement of a session's holds also settles a hold that was still opening, and no hold can be opened after it", async () => {
    const { holdOpening, ledger, opened, sessionHolds } = await world();
    let open = () => {};
    holdOpening(new Promise((resolve) => (open = resolve)));
    const late = sessionHolds.hold('a', 10n);
    const settled = sessionHolds.settle(OUTCOME);
    open();
    expect(await late).toEqual({ kind: 'lost' });
    await settled;
    expect(ledger.openHolds()).toBe(0);
    expect(await sessionHolds.hold('b', 1n)).toEqual({ kind: 'lost' });
    expect(opened()).toBe(1);
  });

  it('no hold of a session is extended once another process took one, and the others settle with later charges', async () => {
    const { ledger, sessionHolds } = await world();
    await sessionHolds.makeWhole({ a: 10n, b: 10n });
    await sessionHolds.journal([{ sessionHold: 'b', costRaw: 4n, usage: {} }]);
    ledger.takeOver('sess_1.a');
    expect(await sessionHolds.hold('a', 20n)).toEqual({ kind: 'lost' });
    expect(await sessionHolds.hold('b', 20n)).toEqual({ kind: 'lost' });
    await settleAll();
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([2, 0n]);
    const bills = ['a', 'b'].map((sessionHold) => ({ sessionHold, costRaw: 3n, usage: {} }));
    expect(await sessionHolds.journal(bills)).toBe('lost');
    await sessionHolds.settle(OUTCOME);
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
  const sessionHolds = new SessionHolds(opening(ledger, clock, spender));
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 500) {
      clock.advance(500);
      await settleAll();
    }
  };
  /** What is asked while the store is away for longer than the callers wait; then it is back, with what was sent to it. */
  async function unanswered(ask: () => Promise<unknown>): Promise<void> {
    const { apply } = store;
    store.apply = () => Promise.reject(new CallTimeout('away'));
    const asked = expect(ask()).rejects.toThrow();
    await pass(LEDGER_LIMITS.calls.giveUpMs * 1.5);
    store.apply = apply;
    await asked;
    await pass(10_000);
  }
  return { sessionHolds, store, unanswered };
}

describe('the holds of a session whose ledger did not answer in time', () => {
  it('a session goes on after a ledger timeout on an extension that succeeded late, and settles the actual cost', async () => {
    const { sessionHolds, store, unanswered } = await ledgerWorld();
    await sessionHolds.hold('a', 100n);
    await sessionHolds.journal([{ sessionHold: 'a', costRaw: 40n, usage: {} }]);
    await unanswered(() => sessionHolds.hold('a', 150n));
    expect(await sessionHolds.hold('a', 300n)).toMatchObject({ kind: 'extended' });
    expect(sessionHolds.heldRaw).toBe(340n);
    await sessionHolds.settle(OUTCOME);
    expect([store.holds.size, store.require(AGENT).state.consumedRaw]).toEqual([0, 40n]);
  });

  it('the settlement of a session includes an extension that succeeded late and had no successor', async () => {
    const { sessionHolds, store, unanswered } = await ledgerWorld();
    await sessionHolds.hold('a', 100n);
    await sessionHolds.journal([{ sessionHold: 'a', costRaw: 40n, usage: {} }]);
    await unanswered(() => sessionHolds.hold('a', 150n));
    await sessionHolds.settle(OUTCOME);
    expect([store.holds.size, store.require(AGENT).state.consumedRaw]).toEqual([0, 40n]);
  });

  it('a session charges nothing to a hold that was opened after its caller had stopped waiting', async () => {
    const { sessionHolds, store, unanswered } = await ledgerWorld();
    await unanswered(() => sessionHolds.hold('b', 100n));
    await expect(sessionHolds.hold('b', 100n)).rejects.toThrow();
    await sessionHolds.settle(OUTCOME);
    expect([store.holds.size, store.require(AGENT).state.heldRaw]).toEqual([0, 0n]);
  });
});

describe('two calls that fill a hold at once', () => {
  it('two calls that extend one hold at once hold the amount once when the balance and the cap allow no more', async () => {
    const policy = policyOf({ limitRaw: 170n, action: 'suspend_agent' });
    const rules = { ...ACTIVE, policies: [policy] };
    const { sessionHolds, store } = await ledgerWorld({ creditRaw: 170n, rules });
    await sessionHolds.makeWhole({ a: 100n });
    await sessionHolds.journal([{ sessionHold: 'a', costRaw: 60n, usage: {} }]);
    const whole = { a: 100n };
    expect(
      await Promise.all([sessionHolds.makeWhole(whole), sessionHolds.makeWhole(whole)]),
    ).toMatchObject([{ kind: 'extended' }, { kind: 'extended' }]);
    expect([sessionHolds.heldRaw, store.require(AGENT).rules.status]).toEqual([160n, 'active']);
  });
});

describe('a hold under a cap that suspends its agent', () => {
  it('a hold for a speculative answer is not extended beyond the cap, and suspends no agent', async () => {
    const policy = policyOf({ limitRaw: 170n, action: 'suspend_agent' });
    const { sessionHolds, store } = await ledgerWorld({ rules: { ...ACTIVE, policies: [policy] } });
    const status = () => store.require(AGENT).rules.status;
    await sessionHolds.hold('a', 100n);
    expect(await sessionHolds.holdQuietly('a', 160n)).toBe(true);
    expect(await sessionHolds.holdQuietly('a', 180n)).toBe(false);
    expect(await sessionHolds.holdQuietly('b', 1n)).toBe(false);
    expect([sessionHolds.heldRaw, status()]).toEqual([160n, 'active']);
    expect(await sessionHolds.hold('a', 180n)).toMatchObject({ refusal: { suspended: true } });
    expect(status()).toBe('suspended');
  });
});

describe('a hold of a caller who names the value of the task', () => {
  it.each([
    [5_000, 10n],
    [undefined, 20n],
    [20_000, 40n],
  ])(
    'a session hold of a caller with task value %s is opened and extended up to the cap of that value: %s',
    async (taskValueBps, capRaw) => {
      const policy = policyOf({ limitRaw: 20n, limitFloorRaw: 5n, limitCeilingRaw: 50n });
      const rules = { ...ACTIVE, policies: [policy] };
      const spender = { agentId: AGENT, ...(taskValueBps !== undefined && { taskValueBps }) };
      const refusal = { refusal: { reason: 'cap_exceeded', breach: { capRaw } } };
      const { sessionHolds } = await ledgerWorld({ rules, spender });
      expect(await sessionHolds.hold('a', capRaw + 1n)).toMatchObject(refusal);
      await sessionHolds.hold('a', 8n);
      expect(await sessionHolds.hold('a', capRaw + 1n)).toMatchObject(refusal);
      expect(await sessionHolds.hold('a', capRaw)).toMatchObject({ kind: 'extended' });
    },
  );
});
