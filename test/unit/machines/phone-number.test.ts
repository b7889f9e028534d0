import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { getShortestPaths } from 'xstate/graph';
import {
  type NumberEvent,
  type NumberStatus,
  phoneNumberMachine,
  planNumber,
} from '../../../machines/phone-number.ts';

const EVENTS: readonly NumberEvent['type'][] = [
  'purchase.settled',
  'purchase.failed',
  'rental.paid',
  'rental.refused',
  'grace.ended',
  'release.requested',
];
const STATES = Object.keys(phoneNumberMachine.states) as NumberStatus[];

/** The rows of the table in machines/README.md as `from event to`. */
function documented(): string[] {
  const readme = readFileSync(new URL('../../../machines/README.md', import.meta.url), 'utf8');
  const section = readme.split('## `phone-number.ts`')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| ([a-z, ]+) \| `([a-z.]+)`[^|]* \| (\w+) \|$/gm)];
  return rows
    .flatMap(([, from = '', event, to]) =>
      from.split(', ').map((state) => `${state} ${event} ${to}`),
    )
    .sort();
}

const run = (...events: NumberEvent['type'][]) =>
  events.reduce<NumberStatus>((status, event) => planNumber(status, event) ?? status, 'buying');

describe('a phone number', () => {
  it('a phone number moves only as the documented table of the machines says', () => {
    const moves = STATES.flatMap((from) =>
      EVENTS.flatMap((event) => {
        const to = planNumber(from, event);
        return to === undefined ? [] : [`${from} ${event} ${to}`];
      }),
    );
    expect(moves.sort()).toEqual(documented());
  });

  it('a phone number reaches every state from a purchase', () => {
    const reached = getShortestPaths(phoneNumberMachine).map(({ state }) => state.value);
    expect(new Set(reached)).toEqual(new Set(STATES));
  });

  it('a phone number comes back from grace once its rental is paid, and is released where it is not', () => {
    expect([
      run('purchase.settled', 'rental.refused', 'rental.paid'),
      run('purchase.settled', 'rental.refused', 'grace.ended'),
      run('purchase.settled', 'rental.refused', 'release.requested'),
    ]).toEqual(['active', 'released', 'released']);
  });

  it('a phone number never leaves an end state, and has no grace period before its purchase', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...EVENTS), { maxLength: 8 }), (events) => {
        let status: NumberStatus = 'buying';
        let wasBought = false;
        for (const event of events) {
          const before: NumberStatus = status;
          status = planNumber(status, event) ?? status;
          wasBought ||= status === 'active';
          if (before === 'released' || before === 'failed') expect(status).toBe(before);
          if (status === 'grace' || status === 'released') expect(wasBought).toBe(true);
        }
      }),
    );
  });
});
