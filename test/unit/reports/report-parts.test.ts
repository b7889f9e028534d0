import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { AgentCaller, DeveloperCaller } from '../../../src/http/route/caller.ts';
import { bucketsOfCaller, DEFAULT_RATE_LIMITS } from '../../../src/rate-limit/rate-gate.ts';
import { byPlace, hasNumber } from '../../../src/reports/activity/activity-event.ts';
import { cursorAt, readCursor } from '../../../src/reports/activity/page-cursor.ts';
import {
  COUNT_ROWS,
  type CountRow,
  RATE_ROWS,
} from '../../../src/reports/caller-limits/limit-table.ts';
import { csvField } from '../../../src/reports/export/month-csv.ts';
import { clampDays, readDays } from '../../../src/reports/read-window.ts';
import { readTime } from '../../../src/reports/report-time.ts';
import { type ReputationFacts, scoreOf } from '../../../src/reports/reputation/score.ts';
import { lookupsOf } from '../../../src/reports/search/forms.ts';

describe('a field of CSV', () => {
  it.each([
    ['plain', 'plain'],
    ['', ''],
    ['=1+1', "'=1+1"],
    ['+49', "'+49"],
    ['-2', "'-2"],
    ['@sum(a1)', "'@sum(a1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', `"'\r=1"`],
    ['a,b', '"a,b"'],
    ['say "hi"', '"say ""hi"""'],
    ['=a,"b"', `"'=a,""b"""`],
    ['two\nlines', '"two\nlines"'],
    ['a=1', 'a=1'],
  ])('a field %j is written as %j', (text, written) => {
    expect(csvField(text)).toBe(written);
  });
});

describe('the reputation formula', () => {
  const BEST: ReputationFacts = {
    ageDays: 400,
    charges: 100,
    failed: 0,
    recentCharges: 50,
    shortfalls: 0,
    meanOutcome: 1,
    suspensions: 0,
  };

  it.each<[string, Partial<ReputationFacts>, number, string]>([
    ['an agent without any flaw', {}, 100, 'A'],
    ['half of the charges failed', { failed: 50 }, 80, 'B'],
    [
      'half of the charges failed and no outcome was reported',
      { failed: 50, meanOutcome: null },
      70,
      'B',
    ],
    ['the agent is 90 days old', { ageDays: 90 }, 93, 'A'],
    ['as many calls as charges were not covered', { shortfalls: 50 }, 93, 'A'],
    ['a cap suspended the agent once', { suspensions: 1 }, 95, 'A'],
    ['every outcome was a failure', { meanOutcome: 0 }, 80, 'B'],
    [
      'everything is bad',
      { ageDays: 0, failed: 100, meanOutcome: 0, shortfalls: 9, recentCharges: 0, suspensions: 9 },
      1,
      'E',
    ],
  ])('%s', (_, facts, score, band) => {
    const told = scoreOf({ ...BEST, ...facts });
    expect(told).toMatchObject({ score, band, confidence: 0.5 });
    expect(told.collateralMultiplierBps).toBe(20_000 - score * 100);
  });
});

describe('a cursor of activity', () => {
  it('a cursor is read as the place that it was made of, for ids of digits and of text', () => {
    const number = { atMicros: 1_764_000_000_000_001n, rank: 3, id: '77' };
    const text = { atMicros: 1n, rank: 1, id: 'credit:start-1' };
    const foreign = { atMicros: 1n, rank: 1, id: 'livekit:заказ № 12\n' };
    for (const place of [number, text, foreign]) {
      expect(readCursor(cursorAt(place, hasNumber(place.rank)), hasNumber)).toEqual(place);
    }
  });

  it.each([
    '',
    'x',
    '!',
    Buffer.from('1 3 t77').toString('base64url'),
    Buffer.from('1 1 n77').toString('base64url'),
    Buffer.from('1 3 n0').toString('base64url'),
    Buffer.from('1 3 n1 or true').toString('base64url'),
    `${Buffer.from('1 3 n77').toString('base64url')}=`,
  ])('the cursor %j is refused', (text) => {
    expect(() => readCursor(text, hasNumber)).toThrow('invalid_cursor');
  });

  it('events of one instant have one order, whatever the order in which they were read', () => {
    const at = {
      atMicros: 5n,
      type: 'x402_call',
      agentId: 1,
      status: 'success',
      summary: '',
    } as const;
    const rest = { amountRaw: 1n, txHash: null, details: {} };
    const events = [
      { ...at, ...rest, source: 'charge', rowId: '10' },
      { ...at, ...rest, source: 'charge', rowId: '9' },
      { ...at, ...rest, source: 'reservation', rowId: '99' },
      { ...at, ...rest, source: 'credit', rowId: 'credit:b' },
      { ...at, ...rest, source: 'credit', rowId: 'credit:a' },
      { ...at, ...rest, source: 'payout', rowId: '0x1' },
    ] as const;
    expect(events.toReversed().sort(byPlace)).toEqual(events);
  });
});

describe('windows of reports', () => {
  it('a number of days is refused or moved to its bound, as the route has it', () => {
    expect([readDays(undefined), readDays('1'), readDays('90')]).toEqual([30, 1, 90]);
    expect([clampDays('-5'), clampDays('0'), clampDays('400')]).toEqual([1, 1, 90]);
    for (const text of ['0', '91', '', 'x', '1.5', '1e1', ' 7']) {
      expect(() => readDays(text), text).toThrow('invalid_days');
    }
    expect(() => clampDays('x')).toThrow('invalid_days');
  });

  it('a time is a day in UTC or an instant with its zone, and a day that does not exist is refused', () => {
    expect(readTime('since', '2028-02-29').toISOString()).toBe('2028-02-29T00:00:00.000Z');
    expect(readTime('since', '2026-08-31T02:00:00+02:00').toISOString()).toBe(
      '2026-08-31T00:00:00.000Z',
    );
    for (const text of ['2026-02-29', '2026-04-31', '2026-8-1', '2026-08-31T25:00:00Z', '1', '']) {
      expect(() => readTime('since', text), text).toThrow('invalid_time');
    }
  });
});

describe('the look-ups of a search', () => {
  const formsOf = (text: string) => lookupsOf(text).map(({ form }) => form);

  it('a pasted key is looked up by its visible part alone', () => {
    const secret = 'f'.repeat(64);
    expect(lookupsOf(`svc_${secret}`)).toEqual([{ form: 'agentKeyPrefix', text: 'svc_ffff...' }]);
    expect(lookupsOf('svc_live_abcdEFGH')).toEqual([
      { form: 'developerKeyPrefix', text: 'svc_live_abcd...' },
    ]);
  });

  it('a text is looked up in each form that it has, and in no other', () => {
    expect(formsOf('42')).toEqual(['rowId', 'correlation', 'tag', 'name']);
    expect(formsOf('9'.repeat(19))).not.toContain('rowId');
    expect(formsOf(`0x${'A'.repeat(64)}`)).toContain('hash');
    expect(formsOf(`0x${'a'.repeat(40)}`)).toContain('wallet');
    expect(lookupsOf('15550100')).toContainEqual({ form: 'phoneNumber', text: '+15550100' });
    expect(formsOf(`CA${'0'.repeat(32)}`)).toContain('id');
    expect(formsOf('🤖')).toEqual(['correlation', 'name']);
  });
});

describe('the page of limits', () => {
  const page = readFileSync(
    new URL('../../../docs/api-behaviour/limits.md', import.meta.url),
    'utf8',
  );
  const agent = { kind: 'agent', agentId: 1, accountId: 'a', keyId: 1 } as AgentCaller;
  const developer = { kind: 'developer', accountId: 'a', keyId: 1 } as DeveloperCaller;

  it('the page has every limit that GET /v1/limits tells, with its number', () => {
    const buckets = [agent, developer].flatMap((caller) =>
      bucketsOfCaller(caller, DEFAULT_RATE_LIMITS),
    );
    const rates = RATE_ROWS.map((row) => {
      const bucket = buckets.find(({ kind }) => kind === row.bucket);
      return lineOf(row, `${bucket?.perMinute.toLocaleString('en')} a minute`);
    });
    const counts = Object.values(COUNT_ROWS as Readonly<Record<string, CountRow>>).map((row) =>
      lineOf(row, row.most.toLocaleString('en')),
    );
    expect([...rates, ...counts].filter((line) => !page.includes(line))).toEqual([]);
  });

  const lineOf = (row: Omit<CountRow, 'most'>, limit: string) =>
    `| \`${row.id}\` | ${row.binds} | ${row.what} | ${limit} | ${row.beyond} |`;
});
