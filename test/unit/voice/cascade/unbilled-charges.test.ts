import { describe, expect, it } from 'vitest';
import type { Source } from '../../../../src/models/catalogue/catalogue.ts';
import { UnbilledCharges } from '../../../../src/voice/cascade/unbilled-charges.ts';

const source: Source = {
  rail: 'self-host',
  provider: 'p',
  upstreamModel: 'm',
  rates: {},
  marginBps: 0,
};

describe('UnbilledCharges', () => {
  it('UnbilledCharges bills each charge once, and none in progress', () => {
    const tab = new UnbilledCharges();
    const line = {
      isOver: false,
      chars: 1,
      bought: () => ({ source, usage: { character: line.chars } }),
    };
    tab.open(line);
    tab.add({ source, usage: { audio_second: 2 } });
    tab.open({ isOver: true, bought: () => undefined });
    expect(tab.take()).toEqual([{ source, usage: { audio_second: 2 } }]);
    line.chars = 5;
    line.isOver = true;
    expect(tab.take()).toEqual([{ source, usage: { character: 5 } }]);
    expect(tab.take()).toEqual([]);
  });

  it('UnbilledCharges has the fee for an own key once a model, whichever provider it was for', () => {
    const own = (provider: string): Source => ({
      ...source,
      rail: 'byok',
      provider,
      rates: { request: 2_000_000n },
    });
    const tab = new UnbilledCharges();
    const usage = { request: 1, character: 4 };
    tab.add({ source: own('p'), model: 'acme/say', usage });
    expect(['acme/say', 'acme/chat'].map((model) => tab.hasFeeOf(model))).toEqual([true, false]);
    tab.add({ source: own('q'), model: 'acme/say', usage });
    tab.add({ source: own('q'), model: 'acme/chat', usage });
    // No other source is paid by the request.
    tab.add({ source, model: 'acme/say', usage });
    expect(tab.unbilledRaw()).toBe(4n);
    expect(tab.take().map((one) => one.usage)).toEqual([usage, { character: 4 }, usage, usage]);
  });

  it('UnbilledCharges bounds the total by the charges made and the rest of the charges expected', () => {
    const priced: Source = { ...source, rates: { character: 1_000_000n } };
    const tab = new UnbilledCharges();
    tab.add({ source: priced, usage: { character: 3 } });
    const line = {
      isOver: false,
      chars: 4,
      bought: () => ({ source: priced, usage: { character: line.chars } }),
    };
    const [share, other] = [tab.expect(10n), tab.expect(100n)];
    expect(tab.unbilledRaw()).toBe(113n);
    share.open(line);
    expect(tab.unbilledRaw()).toBe(113n);
    line.chars = 12;
    expect(tab.unbilledRaw()).toBe(115n);
    line.isOver = true;
    other.drop();
    expect(tab.unbilledRaw()).toBe(15n);
    tab.take();
    expect(tab.unbilledRaw()).toBe(0n);
  });

  it('UnbilledCharges waits for the charge of each payment in progress, and for nothing else', async () => {
    const tab = new UnbilledCharges();
    tab.expect(1n);
    await tab.paymentsKnown();
    const payments = [tab.expect(2n), tab.expect(3n)];
    for (const share of payments) share.isPayment = true;
    let isKnown = false;
    const known = tab.paymentsKnown().then(() => {
      isKnown = true;
    });
    payments[0]?.drop();
    await new Promise(setImmediate);
    expect(isKnown).toBe(false);
    payments[1]?.open({ isOver: true, bought: () => ({ source, usage: { request: 1 } }) });
    await known;
    expect(tab.take()).toEqual([{ source, usage: { request: 1 } }]);
  });
});
