import { describe, expect, it } from 'vitest';
import {
  deviationOf,
  reportedCharacters,
  reportedSeconds,
} from '../../../../src/marketplace/tripwires/deviation.ts';

describe('what a vendor reports of its own work', () => {
  it.each([
    ['as was measured', { audio_second: 60 }, reportedSeconds(60), undefined],
    ['within two seconds', { audio_second: 1 }, reportedSeconds(3), undefined],
    ['within a twentieth', { audio_second: 100 }, reportedSeconds(105), undefined],
    ['in milliseconds', { audio_second: 1 }, reportedSeconds(1_000, 1_000), undefined],
    ['within ten characters', { character: 5 }, reportedCharacters('15'), undefined],
    ['of something else', { character: 5 }, reportedSeconds(900), undefined],
    ['nothing', { character: 5 }, undefined, undefined],
  ])('a vendor’s usage report is no deviation when it is %s', (_, measured, report, expected) => {
    expect(deviationOf(measured, report)).toBe(expected);
  });

  it('a vendor’s usage report is a deviation when it differs by more than the tolerance', () => {
    expect(deviationOf({ audio_second: 100 }, reportedSeconds(105.1))).toEqual({
      tripwire: 'seconds',
      expected: '100 seconds',
      observed: '105.1 seconds',
    });
    expect(deviationOf({ audio_second: 100 }, reportedSeconds(94.9))?.observed).toBe(
      '94.9 seconds',
    );
    expect(deviationOf({ character: 1_000 }, reportedCharacters(1_051))).toEqual({
      tripwire: 'characters',
      expected: '1000 characters',
      observed: '1051 characters',
    });
  });

  it.each([
    undefined,
    null,
    '',
    'many',
    '-1',
    -1,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    {},
    '1'.repeat(400),
  ])('a vendor’s usage report is ignored when it is %j', (value) => {
    expect(reportedCharacters(value)).toBeUndefined();
  });
});
