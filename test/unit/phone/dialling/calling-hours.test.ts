import { default as parse } from 'libphonenumber-js/max';
import { describe, expect, it } from 'vitest';
import { isWithinHours, zonesOf } from '../../../../src/phone/dialling/calling-hours.ts';
import { zonesOfAreaCode } from '../../../../src/phone/dialling/nanp-zones.ts';

const AREA_CODES = Array.from({ length: 800 }, (_, i) => String(i + 200));
const CANADIAN = /Vancouver|Edmonton|Regina|Winnipeg|Toronto|Halifax|St_Johns|Whitehorse|Iqaluit/;

/** The country of an area code that belongs to a place in the United States or Canada. */
function countryOf(areaCode: string): string | undefined {
  const number = parse(`+1${areaCode}2345678`);
  if (number === undefined || !number.isValid()) return undefined;
  if (number.getType() !== 'FIXED_LINE_OR_MOBILE') return undefined;
  return number.country === 'US' || number.country === 'CA' ? number.country : undefined;
}

describe('the zones of area codes', () => {
  it('the time zones of area codes are known for every code with a place, in its own country, and for no other code', () => {
    const unknown = AREA_CODES.filter(
      (code) => countryOf(code) !== undefined && zonesOfAreaCode(code) === undefined,
    );
    const strange = AREA_CODES.filter((code) => {
      const zones = zonesOfAreaCode(code);
      if (zones === undefined) return false;
      const country = countryOf(code);
      const areCanadian = zones.map((zone) => CANADIAN.test(zone));
      return country === undefined || areCanadian.some((is) => is !== (country === 'CA'));
    });
    // 273 is so new that no numbers of it are in use.
    expect([unknown, strange]).toEqual([['273'], []]);
  });

  it('the time zones of area codes are zones that this runtime has a clock for', () => {
    const zones = new Set(AREA_CODES.flatMap((code) => zonesOfAreaCode(code) ?? []));
    for (const timeZone of zones) {
      expect(() => new Intl.DateTimeFormat('en', { timeZone })).not.toThrow();
    }
  });

  it('the time zones of an unknown area code are both ends of its country', () => {
    expect(zonesOf('+12735550100', 'CA')).toEqual(['America/St_Johns', 'America/Vancouver']);
  });
});

describe('calling hours', () => {
  it('calling hours may go past midnight', () => {
    const hours = { from: 21, until: 8 };
    const at = (hour: number) => isWithinHours(hours, ['UTC'], Date.UTC(2026, 0, 1, hour));
    expect([20, 21, 0, 7, 8].map(at)).toEqual([false, true, true, true, false]);
  });

  it('calling hours are refused for a number whose time zone is unknown', () => {
    expect(isWithinHours({ from: 0, until: 24 }, [], 0)).toBe(false);
  });
});
