import { expect, it } from 'vitest';
import { createSaleHealth, type SoldLately } from '../../../src/marketplace/sale-health.ts';
import { VendorRefused } from '../../../src/marketplace/vendor.ts';
import { VendorFailed, VendorGaveUp } from '../../../src/models/providers/vendors/vendor-api.ts';
import { ManualClock } from '../../support/manual-clock.ts';

function health() {
  const noted: (readonly SoldLately[])[] = [];
  const clock = new ManualClock();
  const made = createSaleHealth({ clock, note: async (sales) => void noted.push(sales) });
  const sell = (vendor: string, error?: Error) =>
    made
      .watch(vendor, async () => {
        clock.advance(5);
        if (error !== undefined) throw error;
      })
      .catch(() => {});
  return { noted, sell, tick: made.worker.tick };
}

const refused = (status: number) =>
  new VendorRefused({ status, headers: {}, body: Buffer.alloc(0) });

it('the sale health of a vendor is written once for all its sales since the last write', async () => {
  const { noted, sell, tick } = health();
  await sell('acme');
  await sell('acme', new VendorFailed('is away'));
  await sell('acme', refused(503));
  await sell('other', refused(401));
  await tick();
  await tick();
  expect(noted).toEqual([
    [
      { vendor: 'acme', latency: 5, failures: 2, delivered: true },
      { vendor: 'other', latency: 5, failures: 1, delivered: false },
    ],
  ]);
  await sell('acme');
  await tick();
  expect(noted[1]).toEqual([{ vendor: 'acme', latency: 5, failures: 0, delivered: true }]);
});

it('the sale health of a vendor does not count failures that are not the vendor’s fault', async () => {
  const { noted, sell, tick } = health();
  for (const error of [
    refused(400),
    refused(429),
    new VendorGaveUp('no sound'),
    new Error('bug'),
  ]) {
    await sell('acme', error);
  }
  await tick();
  expect(noted).toEqual([]);
});
