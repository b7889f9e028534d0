import { expect, it } from 'vitest';
import { decodedValue, readParameters } from '../../../../src/http/body/header-parameters.ts';

it('parameters of a header are read with their quotes and escapes undone', () => {
  expect([...readParameters(' name="a;b"; filename="c:\\\\d\\"e" ; X=1')]).toEqual([
    ['name', 'a;b'],
    ['filename', 'c:\\d"e'],
    ['x', '1'],
  ]);
});

it('an extended header parameter is decoded in its charset, and one that cannot be decoded stays as it is', () => {
  expect(decodedValue("UTF-8''na%C3%AFve%20%E2%82%AC.wav")).toBe('naïve €.wav');
  expect(decodedValue("iso-8859-1'en'na%EFve.wav")).toBe('naïve.wav');
  expect(decodedValue("utf-8''%C3")).toBe("utf-8''%C3");
  expect(decodedValue('plain.wav')).toBe('plain.wav');
  expect(decodedValue(undefined)).toBeUndefined();
});
