import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../src/kernel/api-error.ts';
import { refusalFamilies } from '../../support/refusal-families.ts';

/** Stands for any argument: it has every member, and can be called, joined and printed. */
const anything: unknown = new Proxy(() => undefined, {
  get: (_target, name) => (name === Symbol.toPrimitive ? () => 1 : anything),
  apply: () => anything,
});

const refusals = refusalFamilies.flatMap(([family, entries]) =>
  Object.entries(entries).map(([name, make]): [string, ApiError] => [
    `${family}.${name}`,
    make(anything, anything, anything),
  ]),
);

const retryOf = ({ headers }: ApiError) => headers['x-should-retry'];

/** What the OpenAI SDKs repeat of their own accord, and what Claude Code repeats beside it. */
const isRepeated = ({ status }: ApiError) =>
  [401, 403, 408, 409, 429].includes(status) || status >= 500;

describe('every refusal that clients would repeat', () => {
  it('every refusal that clients would retry says whether they may', () => {
    const silent = refusals.filter(([, one]) => isRepeated(one) && retryOf(one) === undefined);
    expect(silent.map(([name]) => name)).toEqual([]);
    expect(refusals.filter(([, one]) => isRepeated(one)).length).toBeGreaterThan(40);
  });

  it('a refusal for too many requests allows a retry and says when', () => {
    const floods = refusals.filter(([, { status }]) => status === 429);
    expect(floods.length).toBeGreaterThan(3);
    for (const [name, { headers }] of floods) {
      expect([name, headers['x-should-retry'], 'retry-after' in headers]).toEqual([
        name,
        'true',
        true,
      ]);
    }
  });

  it('a refusal of a credential or a permission forbids a retry', () => {
    const refused = refusals.filter(([, { status }]) => status === 401 || status === 403);
    expect(refused.length).toBeGreaterThan(25);
    for (const [name, one] of refused) expect([name, retryOf(one)]).toEqual([name, 'false']);
  });

  it('a refusal after which a retry could pay twice forbids the retry', () => {
    const paying = ['reservation.ambiguous', 'reservation.notAccepted', 'idempotency.paidButLost'];
    const keyed = ['idempotency.inFlight', 'idempotency.keyReused', 'idempotency.notReplayable'];
    const unknown = ['ledger.away', 'request.internal', 'proxy.reservationUndecided'];
    const told = new Map(refusals.map(([name, one]) => [name, retryOf(one)]));
    for (const name of [...paying, ...keyed, ...unknown]) {
      expect([name, told.get(name)]).toEqual([name, 'false']);
    }
  });
});

it('a refusal that clients do not retry by themselves says nothing of a retry', () => {
  const others = refusals.filter(
    ([name, one]) => !isRepeated(one) && name !== 'reservation.notAccepted',
  );
  expect(others.filter(([, one]) => retryOf(one) !== undefined).map(([name]) => name)).toEqual([]);
});
