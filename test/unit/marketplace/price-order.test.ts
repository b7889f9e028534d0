import { describe, expect, it } from 'vitest';
import { priceOrder } from '../../../src/marketplace/prices/price-order.ts';
import type { ServiceName } from '../../../src/marketplace/requests.ts';
import type { Service, Vendor } from '../../../src/marketplace/vendor.ts';
import { REMOTE_VENDORS } from '../../../src/marketplace/vendors/vendors.ts';

const vendorOf = (name: string) => REMOTE_VENDORS.find((vendor) => vendor.name === name) as Vendor;

const priced = (service: ServiceName, vendor: string, body: unknown = {}) =>
  priceOrder(vendorOf(vendor).services[service] as Service<ServiceName>, { service, body });

const OFFERED = REMOTE_VENDORS.flatMap(({ name, services }) =>
  (Object.keys(services) as ServiceName[]).map((service) => [service, name] as const),
);

describe('the price of an order', () => {
  it('the price of a text order is its characters at the list price plus 5 %, rounded up once', () => {
    expect(priced('tts', 'deepgram', { text: 'x'.repeat(100) })).toEqual({
      kind: 'sold',
      priceRaw: 3_150n,
    });
    expect(priced('tts', 'deepgram', { text: '🙂' })).toMatchObject({ priceRaw: 32n });
    const full = { text: 'x'.repeat(1_000), model: 'eleven_v3' };
    expect(priced('tts', 'elevenlabs', full)).toMatchObject({ priceRaw: 105_000n });
  });

  it('the price of an order with a file or an unknown text is for one unit of the list price', () => {
    expect(priced('tts', 'deepgram')).toEqual({
      kind: 'sold',
      priceRaw: 31_500n,
      per: { quantity: 1_000, unit: 'character' },
    });
    expect(priced('tts', 'elevenlabs', { model: 'eleven_v3' })).toMatchObject({
      priceRaw: 105_000n,
    });
    const audioUrl = 'https://files.example/a.wav';
    expect(priced('stt', 'deepgram', { audioUrl })).toEqual({
      kind: 'sold',
      priceRaw: 8_085n,
      per: { quantity: 60, unit: 'second' },
    });
  });

  it.each(OFFERED)('the price of an order needs no body: %s of %s', (service, vendor) => {
    const price = priced(service, vendor);
    expect(price).toMatchObject({ kind: 'sold', per: { unit: expect.any(String) } });
  });

  it('the price of an order is refused for a body that the vendor would not be sent', () => {
    for (const body of [
      { text: 'x'.repeat(2_001) },
      { text: 7 },
      { text: 'a', voice: 'somebody' },
    ]) {
      expect(() => priced('tts', 'deepgram', body)).toThrow(
        expect.objectContaining({ status: 400, error: 'Invalid request' }),
      );
    }
  });
});
