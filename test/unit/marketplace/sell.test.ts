import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../src/kernel/log.ts';
import { systemRandom } from '../../../src/kernel/random.ts';
import { type Sale, type SellDeps, sell } from '../../../src/marketplace/sell.ts';
import { VendorFailed } from '../../../src/models/providers/vendors/vendor-api.ts';
import { ManualClock } from '../../support/manual-clock.ts';
import { RecordedSpan } from '../../support/recorded-span.ts';

const PRICE_RAW = 70n;

function till() {
  const settled: bigint[] = [];
  const leaving = new AbortController();
  const hold = { holdId: 'h', agentId: 1, amountRaw: PRICE_RAW, facts: {} };
  const deps = {
    ledger: {
      hold: async () => ({ kind: 'held', hold }),
      settle: async ({ actualRaw }: { actualRaw: bigint }) => {
        settled.push(actualRaw);
        return { kind: 'settled', chargedRaw: actualRaw };
      },
    },
    budgets: { left: async () => ({ advisory: undefined }) },
    clock: new ManualClock(),
    random: systemRandom,
    log: silentLog,
    findOwner: async () => undefined,
    tripwires: { eventsOf: async () => [] },
  } as unknown as SellDeps;
  const sale: Sale = {
    spender: { agentId: 1 },
    workId: undefined,
    url: 'u',
    host: 'h',
    signal: leaving.signal,
    refusalOfHold: () => new Error('held back'),
  };
  const span = new RecordedSpan('request');
  const buy = (ask: () => void, priceRaw = PRICE_RAW) =>
    sell(
      deps,
      { ...sale, span },
      {
        vendor: 'v',
        priceRaw,
        usage: { character: 9 },
        ask: async () => {
          ask();
          return { json: {} };
        },
      },
    );
  return { buy, leave: () => leaving.abort(), settled, span };
}

describe('a sale', () => {
  it('a sale is charged when its client leaves while the vendor works', async () => {
    const { buy, leave, settled } = till();
    expect(await buy(leave)).toMatchObject({ chargedRaw: PRICE_RAW });
    expect(settled).toEqual([PRICE_RAW]);
  });

  it('a sale whose client left beforehand costs nothing and sends the vendor no request', async () => {
    const { buy, leave, settled } = till();
    leave();
    let asked = 0;
    await expect(buy(() => asked++)).rejects.toMatchObject({ status: 499 });
    expect([asked, settled]).toEqual([0, [0n]]);
  });

  it('a sale costs nothing when the vendor fails, even after its client has left', async () => {
    const { buy, leave, settled } = till();
    const fails = () => {
      leave();
      throw new VendorFailed('broke off');
    };
    await expect(buy(fails)).rejects.toThrow(VendorFailed);
    expect(settled).toEqual([0n]);
  });

  it('a free sale ends when its client leaves', async () => {
    const { buy, leave, settled } = till();
    await expect(buy(leave, 0n)).rejects.toMatchObject({ status: 499 });
    expect(settled).toEqual([0n]);
  });

  it('the span of a sale has its vendor, hold, units and charge, or the error that ended it', async () => {
    const { buy, span } = till();
    await buy(() => {});
    const fails = () => {
      throw new VendorFailed('a secret');
    };
    await expect(buy(fails)).rejects.toThrow(VendorFailed);
    const [sold, failed] = span.children;
    expect(sold).toMatchObject({
      name: 'marketplace v',
      ended: { attributes: { 'svc.cost_raw': 70 } },
      attributes: { 'svc.hold.id': 'h', 'svc.usage.character': 9, 'svc.agent.id': 1 },
    });
    expect(failed?.ended).toEqual({ error: 'vendor_failed' });
  });
});
