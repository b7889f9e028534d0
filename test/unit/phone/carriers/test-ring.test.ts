import { expect, it } from 'vitest';
import { createTestRing } from '../../../../src/phone/carriers/test-ring.ts';

const PARTIES = { from: '+14155550123', to: '+12125550100' };

it('a test ring is refused with 503 when the carrier has real callers only, or there is no carrier', async () => {
  for (const carrier of [undefined, {}]) {
    await expect(createTestRing(carrier).ring(PARTIES)).rejects.toMatchObject({
      status: 503,
      error: 'telephony_unavailable',
    });
  }
});

it('a test ring passes both numbers to the carrier, and refuses an invalid caller number', async () => {
  const rung: object[] = [];
  const testRing = createTestRing({
    ring: async (parties) => {
      rung.push(parties);
      return 'CA1';
    },
  });
  expect(await testRing.ring(PARTIES)).toBe('CA1');
  await expect(testRing.ring({ ...PARTIES, from: '555' })).rejects.toMatchObject({ status: 400 });
  expect(rung).toEqual([PARTIES]);
});
