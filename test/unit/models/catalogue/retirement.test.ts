import { describe, expect, it } from 'vitest';
import {
  dayMs,
  livingFirst,
  retirementOf,
  retiringWithin,
  soonestHeaders,
} from '../../../../src/models/catalogue/retirement.ts';

const going = (id: string, shutdownDate: string, successor: string | null = null) => ({
  id,
  retirement: retirementOf({ shutdownDate, noticeDate: '2026-10-14', successor }),
});
const living = { id: 'acme/new' };
const at = (text: string) => Date.parse(text);

describe('a retirement', () => {
  it('a retirement has the headers of RFC 8594 and RFC 9745 and a link to the successor', () => {
    expect(going('acme/old', '2027-01-14', 'acme/new').retirement.headers).toEqual({
      sunset: 'Thu, 14 Jan 2027 00:00:00 GMT',
      deprecation: '@1791936000',
      link: '</v1/models/acme%2Fnew>; rel="successor-version"',
    });
    expect(at('2026-10-14T00:00:00Z')).toBe(1_791_936_000_000);
  });

  it('a retirement without a notice date and a successor has only the sunset header', () => {
    const { headers } = retirementOf({
      shutdownDate: '2027-01-14',
      noticeDate: undefined,
      successor: null,
    });
    expect(Object.keys(headers)).toEqual(['sunset']);
  });

  it('a retirement date must be a day of the calendar', () => {
    expect(dayMs('2028-02-29')).toBe(at('2028-02-29T00:00:00Z'));
    for (const wrong of ['2027-02-29', '2027-13-01', '14 Jan 2027', '2027-1-4', '']) {
      expect(dayMs(wrong), wrong).toBeUndefined();
    }
  });
});

describe('models that retire', () => {
  it('a retired model is ordered behind living ones from its shutdown day on, and not before', () => {
    const models = [going('acme/old', '2027-01-14'), living];
    const ids = (now: string) => livingFirst(models, at(now)).map(({ id }) => id);
    expect(ids('2027-01-13T23:59:59Z')).toEqual(['acme/old', 'acme/new']);
    expect(ids('2027-01-14T00:00:00Z')).toEqual(['acme/new', 'acme/old']);
  });

  it('models that retire within the given days or have retired are named, soonest first', () => {
    const models = [
      going('acme/b', '2027-02-22', 'acme/new'),
      going('acme/c', '2027-02-23'),
      living,
      going('acme/a', '2026-11-01'),
    ];
    expect(Object.entries(retiringWithin(models, 90, at('2026-11-24')))).toEqual([
      ['acme/a', '2026-11-01 -> no successor'],
      ['acme/b', '2027-02-22 -> acme/new'],
    ]);
    expect(retiringWithin([living], 90, at('2026-11-24'))).toEqual({});
  });

  it('a response of several models has the retirement headers of the first one to retire', () => {
    const parts = [going('acme/b', '2027-02-22'), living, going('acme/a', '2027-01-14')];
    expect(soonestHeaders(parts)).toMatchObject({ sunset: 'Thu, 14 Jan 2027 00:00:00 GMT' });
    expect(soonestHeaders([living])).toEqual({});
  });
});
