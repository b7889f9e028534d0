import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../../src/kernel/api-error.ts';
import {
  areaCodeOf,
  parseRequestedNumber,
  requireCountry,
} from '../../../../src/phone/numbers/requested-number.ts';

function refusalOf(body: Record<string, unknown>): string | undefined {
  try {
    parseRequestedNumber(body);
    return undefined;
  } catch (error) {
    return (error as ApiError).error;
  }
}

describe('what a purchase asks for', () => {
  it('a purchase requests a number of an area or an exact number, and the exact number wins', () => {
    expect(parseRequestedNumber({ areaCode: '415' })).toEqual({ kind: 'area', areaCode: '415' });
    expect(parseRequestedNumber({ areaCode: '1', phoneNumber: '+14155550100' })).toEqual({
      kind: 'exact',
      phoneNumber: '+14155550100',
    });
  });

  it.each([
    [{}, 'area_code_required'],
    [{ areaCode: '', phoneNumber: null }, 'area_code_required'],
    [{ areaCode: '115' }, 'invalid_area_code'],
    [{ areaCode: '41' }, 'invalid_area_code'],
    [{ areaCode: '4155' }, 'invalid_area_code'],
    [{ areaCode: '٤١٥' }, 'invalid_area_code'],
    [{ areaCode: '415\n' }, 'invalid_area_code'],
    [{ areaCode: 415 }, 'invalid_area_code'],
    [{ phoneNumber: '4155550100' }, 'invalid_phone_number'],
    [{ phoneNumber: '+044301234567' }, 'invalid_phone_number'],
    [{ phoneNumber: '+1415555010' }, 'invalid_phone_number'],
    [{ phoneNumber: ['+14155550100'] }, 'invalid_phone_number'],
  ])('a number purchase with %j is refused with %s', (body, error) => {
    expect(refusalOf(body)).toBe(error);
  });

  it.each([
    ['+14155550100', [], 'US'],
    ['+4930901820', ['US', 'DE'], 'DE'],
    ['+4930901820', ['US', 'FR'], 'invalid_phone_number'],
    ['+4415555010012', ['US', 'GB'], 'invalid_phone_number'],
  ])(
    'a purchase of %s, where %j may be called, has the country or the error %s',
    async (phoneNumber, countries, outcome) => {
      const wanted = { kind: 'exact', phoneNumber } as const;
      const country = requireCountry(wanted, countries).catch(({ error }: ApiError) => error);
      expect(await country).toBe(outcome);
    },
  );

  it('a requested number of another country has no area code', () => {
    expect(areaCodeOf('+4930901820')).toBeNull();
  });

  it('a requested US number has the area code that it begins with', () => {
    expect(areaCodeOf('+14155550100')).toBe('415');
  });
});
