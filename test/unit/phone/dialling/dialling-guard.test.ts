import { describe, expect, it } from 'vitest';
import { type DiallingPolicy, judgeNumber } from '../../../../src/phone/dialling/dialling-guard.ts';

const NOON_UTC = Date.UTC(2026, 6, 1, 12);

const judge = async (toNumber: string, policy: Partial<DiallingPolicy> = {}) => {
  const verdict = await judgeNumber(toNumber, {
    countries: ['US', 'CA'],
    callingHours: { from: 0, until: 24 },
    nowMs: NOON_UTC,
    doNotCall: false,
    ...policy,
  });
  return verdict.kind === 'allowed' ? `allowed ${verdict.country}` : verdict.reason;
};

describe('the dialling guard', () => {
  it.each([
    ['+14155550100', 'allowed US'],
    ['+16135550100', 'allowed CA'],
    ['+18005550100', 'allowed US'],
    ['4155550100', 'not_e164'],
    ['+1 415 555 0100', 'not_e164'],
    ['+1-415-555-0100', 'not_e164'],
    ['+14155550100 ', 'not_e164'],
    ['+14155550100;ext=5', 'not_e164'],
    ['tel:+14155550100', 'not_e164'],
    ['sip:a@b.example', 'not_e164'],
    ['+١٤١٥٥٥٥٠١٠٠', 'not_e164'],
    ['', 'not_e164'],
    ['911', 'not_e164'],
    ['112', 'not_e164'],
    ['+911', 'not_e164'],
    ['+1911', 'not_e164'],
    ['+1415555010', 'invalid'],
    ['+141555501000', 'invalid'],
    ['+19115550100', 'invalid'],
    ['+11155550100', 'invalid'],
    ['+17105550100', 'invalid'],
    ['+9999999999', 'invalid'],
    ['+19005550100', 'number_type'],
    ['+15005550100', 'number_type'],
    ['+15335550100', 'number_type'],
    ['+16005550100', 'number_type'],
    ['+12129760100', 'number_type'],
    ['+14159110100', 'number_type'],
    ['+12125551212', 'number_type'],
    // Areas of +1 that are abroad, and are dialled by mistake.
    ['+18765550100', 'country'],
    ['+18095550100', 'country'],
    ['+12844940100', 'country'],
    ['+14734400100', 'country'],
    ['+17875550100', 'country'],
    ['+16715550100', 'country'],
    ['+442071838750', 'country'],
    ['+881612345678', 'country'],
  ])('the dialling guard judges %s as %s', async (toNumber, expected) => {
    expect(await judge(toNumber)).toBe(expected);
  });

  it.each([
    ['+442071838750', 'allowed GB'],
    ['+447400123456', 'allowed GB'],
    ['+447012345678', 'number_type'],
    ['+448451234567', 'number_type'],
    ['+443001234567', 'number_type'],
    ['+447624123456', 'country'],
    ['+33123456789', 'allowed FR'],
    ['+33899123456', 'number_type'],
  ])(
    'the dialling guard judges %s as %s when calls to its country are allowed',
    async (toNumber, expected) => {
      expect(await judge(toNumber, { countries: ['GB', 'FR'] })).toBe(expected);
    },
  );

  it('the dialling guard refuses a number on the block list of the account', async () => {
    expect(await judge('+14155550100', { doNotCall: true })).toBe('do_not_call');
  });

  it.each([
    // 8 in New York; 5 in Los Angeles.
    ['+12125550100', 12, 'allowed US'],
    ['+12125550100', 11, 'calling_hours'],
    ['+14155550100', 12, 'calling_hours'],
    ['+14155550100', 15, 'allowed US'],
    // 20 in New York at midnight UTC, 21 an hour later.
    ['+12125550100', 24, 'allowed US'],
    ['+12125550100', 25, 'calling_hours'],
    // Idaho has two zones: it must be late enough in the west, and early enough in the east.
    ['+12085550100', 14, 'calling_hours'],
    ['+12085550100', 15, 'allowed US'],
    ['+12085550100', 26, 'allowed US'],
    ['+12085550100', 27, 'calling_hours'],
    // Arizona has no summer time: 7 there, 8 in Denver.
    ['+16025550100', 14, 'calling_hours'],
    ['+13035550100', 14, 'allowed US'],
    // Half an hour before Halifax.
    ['+17095550100', 10, 'calling_hours'],
    ['+17095550100', 11, 'allowed CA'],
    // A business is called by its toll-free number at any hour.
    ['+18005550100', 3, 'allowed US'],
  ])(
    'the dialling guard with calling hours from 8 to 21 judges %s at %i:00 UTC as %s',
    async (toNumber, hour, expected) => {
      const nowMs = Date.UTC(2026, 6, 1, hour);
      expect(await judge(toNumber, { callingHours: { from: 8, until: 21 }, nowMs })).toBe(expected);
    },
  );

  it('the dialling guard applies calling hours to other countries in all of their zones', async () => {
    const callingHours = { from: 8, until: 21 };
    const at = (hour: number) => ({
      countries: ['GB', 'AU'],
      callingHours,
      nowMs: Date.UTC(2026, 6, 1, hour),
    });
    expect(await judge('+442071838750', at(7))).toBe('allowed GB');
    expect(await judge('+442071838750', at(6))).toBe('calling_hours');
    // 8 in Perth, and 10 in Sydney.
    expect(await judge('+61293744000', at(0))).toBe('allowed AU');
    expect(await judge('+61293744000', at(20))).toBe('calling_hours');
  });
});
