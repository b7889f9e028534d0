import { describe, expect, it } from 'vitest';
import { createLoopbackNumbers } from '../../../../../src/phone/carriers/loopback/loopback-numbers.ts';

const carrier = (rented: readonly string[] = []) =>
  createLoopbackNumbers({
    findRented: async (numbers) => numbers.filter((number) => rented.includes(number)),
  });

const found = async (numbers: ReturnType<typeof carrier>, areaCode?: string, limit = 3) =>
  (await numbers.search({ areaCode, limit })).map(({ phoneNumber }) => phoneNumber);

describe('the numbers of the loopback carrier', () => {
  it('the loopback carrier offers the fictional numbers of an area, always the same, without rented ones', async () => {
    expect(await found(carrier(), '646')).toEqual(['+16465550100', '+16465550101', '+16465550102']);
    expect(await found(carrier(['+16465550100']), '646', 2)).toEqual([
      '+16465550101',
      '+16465550102',
    ]);
    expect(await found(carrier(), '646', 1_000)).toHaveLength(100);
  });

  it('the loopback carrier offers numbers of several areas when none is named', async () => {
    expect(await found(carrier(), undefined, 8)).toEqual([
      '+12125550100',
      '+12125550101',
      '+14155550100',
      '+14155550101',
      '+13125550100',
      '+13125550101',
      '+12065550100',
      '+12065550101',
    ]);
    expect(await carrier().search({ areaCode: '415', limit: 1 })).toEqual([
      {
        phoneNumber: '+14155550100',
        friendlyName: '(415) 555-0100',
        locality: 'San Francisco',
        region: 'CA',
      },
    ]);
  });

  it('the loopback carrier offers an exact number, unless a real telephone could have it', async () => {
    const numbers = carrier();
    expect(await numbers.search({ phoneNumber: '+14155550150', limit: 20 })).toHaveLength(1);
    expect(await numbers.search({ phoneNumber: '+14155551150', limit: 20 })).toEqual([]);
    await expect(
      numbers.buy({ phoneNumber: '+14155551150', purchaseId: 'num_1' }),
    ).rejects.toMatchObject({ kind: 'taken' });
  });

  it('the loopback carrier sells a number once, finds it by its purchase, and sells it again after its release', async () => {
    const numbers = carrier();
    const wanted = { phoneNumber: '+14155550100', purchaseId: 'num_1' };
    const sold = await numbers.buy(wanted);
    expect(await numbers.buy(wanted)).toEqual(sold);
    await expect(numbers.buy({ ...wanted, purchaseId: 'num_2' })).rejects.toMatchObject({
      name: 'CarrierFailed',
      kind: 'taken',
    });
    expect(await numbers.findPurchase('num_1')).toEqual(sold);
    expect(await numbers.findPurchase('num_2')).toBeUndefined();
    expect(await found(numbers, '415', 1)).toEqual(['+14155550101']);
    await numbers.release(sold.carrierNumberId);
    await numbers.release(sold.carrierNumberId);
    expect(await numbers.findPurchase('num_1')).toBeUndefined();
    expect(await found(numbers, '415', 1)).toEqual(['+14155550100']);
  });
});
