import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { reservationErrors } from '../../../../src/x402/errors.ts';
import { refusalFamilies } from '../../../support/refusal-families.ts';

type Row = { readonly section: string; readonly status: number; readonly error: string };

const vectors = JSON.parse(
  readFileSync(new URL('../../../vectors/errors.json', import.meta.url), 'utf8'),
) as { specification: Row[]; added: Omit<Row, 'section'>[] };

/** Sections of the specification whose routes exist; the others follow with theirs. */
const BUILT = [
  'Developer auth',
  'Developer keys',
  'Agent registration and management',
  'Admin',
  'Webhooks',
  'Phone numbers',
];

const ARGUMENTS: Readonly<Record<string, readonly unknown[]>> = {
  invalid: [[]],
  methodNotAllowed: [['GET']],
  notAccepted: [402, 'why', {}],
  unknownProvider: [['openai']],
  modelNotFound: ['x', ['a/x', 'b/x']],
  invalidModel: ['x', ['a/x', 'b/x']],
  rateLimited: [{ retryAfterSeconds: 1 }],
  gatewayLimited: [{ retryAfterSeconds: 1 }],
  upstreamRateLimited: [{ seconds: 1 }],
  upstreamRefused: [400, 'why', {}],
  unsupportedCoding: ['deflate', ['gzip']],
  invalidGroupBy: ['x', ['source', 'agent']],
  invalidPeriod: ['window', 'x', ['7d', '30d']],
};

const refusals = refusalFamilies.flatMap(([, family]) =>
  Object.entries(family).map(([name, make]) => make(...(ARGUMENTS[name] ?? [{}, {}, {}]))),
);
const spelled = (row: { status: number; error: string }) => `${row.status} ${row.error}`;

describe('the catalogue of refusals', () => {
  it('the errors of the built sections have exactly the codes of the specification', () => {
    const made = new Set(refusals.map(spelled));
    const due = vectors.specification.filter(({ section }) => BUILT.includes(section));
    expect(due.length).toBeGreaterThan(15);
    expect(due.map(spelled).filter((row) => !made.has(row))).toEqual([]);
  });

  it('every error code beyond the specification is listed as an addition', () => {
    const known = new Set([...vectors.specification, ...vectors.added].map(spelled));
    expect(refusals.map(spelled).filter((row) => !known.has(row))).toEqual([]);
  });

  it('an error after a possible payment says where to look up the payment', () => {
    const nonce = `0x${'ab'.repeat(32)}`;
    const { notAccepted, ambiguous } = reservationErrors;
    const reservation = { nonce, validBefore: 7 };
    for (const refusal of [notAccepted(402, 'why', reservation), ambiguous('why', reservation)]) {
      const next = { method: 'GET', path: `/v1/agents/reservations/${nonce}` };
      expect(refusal.fields).toMatchObject({ reservation, next });
    }
  });

  it('an error has the same sentence in message and detail, and a 429 has a retry-after header', () => {
    for (const refusal of refusals) {
      if (refusal.error === 'Invalid request') continue;
      expect(refusal.fields.message, refusal.error).toBe(refusal.fields.detail);
      if (refusal.status === 429) expect(refusal.headers['retry-after']).toBeDefined();
    }
  });
});
