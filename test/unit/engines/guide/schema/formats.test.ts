import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { findFormat } from '../../../../../src/engines/guide/schema/formats.ts';

const ajv = new Ajv2020({ strict: false });
addFormats.default(ajv);

const NAMES = [
  ...['date', 'time', 'date-time', 'iso-time', 'iso-date-time', 'duration', 'email', 'hostname'],
  ...['ipv4', 'ipv6', 'uri', 'url', 'uri-reference', 'uri-template', 'uuid', 'regex', 'byte'],
  ...['json-pointer', 'json-pointer-uri-fragment', 'relative-json-pointer'],
];
const TEXTS = [
  ...[
    '',
    ' ',
    'a',
    'a b',
    '2026-02-29',
    '2024-02-29',
    '2026-13-01',
    '2026-1-1',
    '10:00',
    '24:00:00Z',
  ],
  ...[
    '10:00:00Z',
    '10:00:00.5+02:00',
    '10:00:00',
    '2026-01-01T10:00:00Z',
    '2026-01-01',
    'P1Y2M3DT4H',
  ],
  ...['P', 'PT', 'P1W', 'P1WT1H', 'a@b.co', 'a@b', '.a@b.co', 'a b@c.de', 'example.com', '-a.com'],
  ...[
    '1.2.3.4',
    '256.1.1.1',
    '01.2.3.4',
    '::1',
    '1:2:3:4:5:6:7:8',
    'http://a.co/b?c#d',
    'http://',
    'mailto:a@b.co',
  ],
  ...[
    'http://a b',
    'https://a.co/%zz',
    '/a/b',
    '#',
    '#/a',
    '0/a',
    '/~2',
    '(',
    '[a',
    'AA==',
    'A==',
    'AAA',
  ],
  ...[
    '00000000-0000-4000-8000-000000000001',
    'urn:uuid:00000000-0000-4000-8000-000000000001',
    '1-2',
  ],
];

describe('formats', () => {
  it('take nothing that another validator refuses', () => {
    for (const name of NAMES) {
      const mine = findFormat(name);
      const theirs = ajv.compile({ type: 'string', format: name });
      const samples = mine?.samples({ nowMs: Date.UTC(2026, 0, 2, 3, 4, 5) }) ?? [];
      expect(samples.length, name).toBeGreaterThan(1);
      for (const sample of samples) {
        expect([name, sample, mine?.isOne(sample), theirs(sample)]).toEqual([
          name,
          sample,
          true,
          true,
        ]);
      }
      for (const text of TEXTS) {
        if (mine?.isOne(text) === true)
          expect([name, text, theirs(text)]).toEqual([name, text, true]);
      }
    }
  });

  it('that have another name promise nothing', () => {
    expect(findFormat('color')).toBeUndefined();
    expect(findFormat(7)).toBeUndefined();
  });
});
