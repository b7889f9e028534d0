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
  it('is said in the words of RFC 8594 and RFC 9745, with a link to what comes after', () => {
    expect(going('acme/old', '2027-01-14', 'acme/new').retirement.headers).toEqual({
      sunset: 'Thu, 14 Jan 2027 00:00:00 GMT',
      deprecation: '@1791936000',
      link: '</v1/models/acme%2Fnew>; rel="successor-version"',
    });
    expect(at('2026-10-14T00:00:00Z')).toBe(1_791_936_000_000);
  });

  it('leaves out what is not known', () => {
    const { headers } = retirementOf({
      shutdownDate: '2027-01-14',
      noticeDate: undefined,
      successor: null,
    });
    expect(Object.keys(headers)).toEqual(['sunset']);
  });

  it('takes a day that the calendar has', () => {
    expect(dayMs('2028-02-29')).toBe(at('2028-02-29T00:00:00Z'));
    for (const wrong of ['2027-02-29', '2027-13-01', '14 Jan 2027', '2027-1-4', '']) {
      expect(dayMs(wrong), wrong).toBeUndefined();
    }
  });
});

describe('models that retire', () => {
  it('go behind the living ones on the day itself, and not before', () => {
    const models = [going('acme/old', '2027-01-14'), living];
    const ids = (now: string) => livingFirst(models, at(now)).map(({ id }) => id);
    expect(ids('2027-01-13T23:59:59Z')).toEqual(['acme/old', 'acme/new']);
    expect(ids('2027-01-14T00:00:00Z')).toEqual(['acme/new', 'acme/old']);
  });

  it('are named within so many days of their end and after it, the soonest first', () => {
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

  it('that work together say what the first of them to go says', () => {
    const parts = [going('acme/b', '2027-02-22'), living, going('acme/a', '2027-01-14')];
    expect(soonestHeaders(parts)).toMatchObject({ sunset: 'Thu, 14 Jan 2027 00:00:00 GMT' });
    expect(soonestHeaders([living])).toEqual({});
  });
});
