import { describe, expect, it } from 'vitest';
import { MAIN_PURSE, openPurses, Purses } from '../../../src/actors/purses.ts';
import { openPurse } from '../../../src/actors/voice-purse.ts';
import type { Source } from '../../../src/gateway/catalogue.ts';
import { silentLog } from '../../../src/kernel/log.ts';
import { ManualClock } from '../../../src/kernel/manual-clock.ts';
import { createFakeLedger } from '../../support/fake-ledger.ts';
import { AGENT, settleAll } from '../../support/voice-world.ts';

const source: Source = {
  ...{ rail: 'direct-account', provider: 'p', upstreamModel: 'm', rates: {}, marginBps: 0 },
};
const OUTCOME = { reason: 'closed', status: 'success' } as const;

async function world() {
  const ledger = createFakeLedger();
  await ledger.credit({ agentId: AGENT, amountRaw: 1_000n, reference: 'world' });
  const deps = { ledger, clock: new ManualClock(), log: silentLog };
  let mayOpen = Promise.resolve();
  let opened = 0;
  const purses = new Purses(async (name, reserveRaw) => {
    opened++;
    await mayOpen;
    const sessionId = `sess_1.${name}`;
    const owner = { spender: { agentId: AGENT }, sessionId, kind: 'realtime', source } as const;
    return openPurse(deps, { ...owner, model: `${name}/m` }, reserveRaw);
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

  it('leave nothing held where one of them cannot be opened', async () => {
    const { ledger, purses } = await world();
    const refusal = openPurses(purses, { [MAIN_PURSE]: 10n, a: 2_000n, b: 10n });
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

  it('settle what another process has not taken, where it has taken one', async () => {
    const { ledger, purses } = await world();
    await purses.makeWhole({ a: 10n, b: 10n });
    await purses.journal([{ purse: 'b', costRaw: 4n, usage: {} }]);
    ledger.takeOver('sess_1.a');
    expect(await purses.hold('a', 20n)).toEqual({ kind: 'lost' });
    await settleAll();
    // The one that was taken is the other's to settle.
    expect([ledger.openHolds(), ledger.consumedRaw(AGENT)]).toEqual([1, 4n]);
  });
});
