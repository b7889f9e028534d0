import { expect, it } from 'vitest';
import { silentLog } from '../../../../src/kernel/log.ts';
import { MARKETPLACE_LIMITS } from '../../../../src/marketplace/limits.ts';
import type { Deviation } from '../../../../src/marketplace/tripwires/deviation.ts';
import { createTripwires } from '../../../../src/marketplace/tripwires/tripwires.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

const DEPARTURE: Deviation = { tripwire: 'seconds', expected: '1 seconds', observed: '9 seconds' };

function tripwires(claim: () => Promise<boolean> = async () => true) {
  const clock = new ManualClock();
  const claimed: unknown[] = [];
  const made = createTripwires({
    clock,
    log: silentLog,
    async claim(of) {
      claimed.push(of);
      return claim();
    },
  });
  const find = (vendor = 'acme', owner = { accountId: 'acct_1', wallet: '0x1' } as const) =>
    made.eventsOf({ agentId: 1, vendor, reference: 'mkt_1', owner: async () => owner }, [
      DEPARTURE,
    ]);
  return { clock, claimed, find };
}

it('a tripwire event names the agent and the sale’s hold, with the expected and the observed value', async () => {
  const { find } = tripwires();
  expect(await find()).toEqual([
    {
      name: 'marketplace.tripwire.triggered',
      accountId: 'acct_1',
      agentWallet: '0x1',
      correlationId: 'mkt_1',
      payload: { agentWalletAddress: '0x1', vendor: 'acme', ...DEPARTURE },
    },
  ]);
});

it('a tripwire is claimed once an hour for each vendor, however many sales deviate', async () => {
  const { claimed, clock, find } = tripwires();
  for (let sale = 0; sale < 50; sale++) await find();
  expect(claimed).toEqual([{ agentId: 1, vendor: 'acme', tripwire: 'seconds' }]);
  await find('other');
  expect(claimed).toHaveLength(2);
  clock.advance(MARKETPLACE_LIMITS.tripwire.everyMs);
  expect(await find()).toHaveLength(1);
  expect(claimed).toHaveLength(3);
});

it('a tripwire whose claim failed is reported at the next sale', async () => {
  let isDown = true;
  const { claimed, find } = tripwires(async () => {
    if (isDown) throw new Error('no database');
    return true;
  });
  expect(await find()).toEqual([]);
  isDown = false;
  expect(await find()).toHaveLength(1);
  expect(await find()).toEqual([]);
  expect(claimed).toHaveLength(2);
});

it('a tripwire that another process has reported is not reported again, and a failed claim fails no sale', async () => {
  expect(await tripwires(async () => false).find()).toEqual([]);
  const down = tripwires(() => Promise.reject(new Error('no database')));
  expect(await down.find()).toEqual([]);
});
