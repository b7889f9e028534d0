import { expect, it } from 'vitest';
import { ConfigError } from '../../../../src/config/config-error.ts';
import { watchCarrierSpend } from '../../../../src/phone/calls/watch-carrier-spend.ts';

it.each([
  ['a limit of spend', 500],
  ['that there is no limit', undefined],
])('%s is sent to the carrier until it has agreed, and then no more', async (_, limit) => {
  const asked: (number | undefined)[] = [];
  const worker = watchCarrierSpend(
    {
      name: 'twilio',
      watchSpend: async (limitUsd) => {
        if (asked.push(limitUsd) === 1) throw new Error('away');
      },
    },
    limit,
  );
  await expect(worker?.tick()).rejects.toThrow('away');
  await worker?.tick();
  await worker?.tick();
  expect(asked).toEqual([limit, limit]);
});

it('a server refuses to start with a spend limit that its carrier cannot watch, and names the variable', () => {
  const unwatched = { name: 'telnyx', watchSpend: undefined } as const;
  expect(() => watchCarrierSpend(unwatched, 500)).toThrow(ConfigError);
  expect(() => watchCarrierSpend(unwatched, 500)).toThrow('PHONE_MONTHLY_CARRIER_LIMIT_USD');
  expect(watchCarrierSpend(unwatched, undefined)).toBeUndefined();
});
