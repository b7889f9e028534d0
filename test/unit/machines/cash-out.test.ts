import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  type CashOutEvent,
  type CashOutState,
  cashOutMachine,
  planCashOut,
} from '../../../machines/cash-out.ts';

const EVENTS: readonly CashOutEvent[] = [
  'leg.written',
  'leg.refused',
  'leg.seen',
  'sale.opened',
  'send.reported',
  'sale.received',
  'sale.completed',
  'sale.failed',
  'sale.expired',
  'cancel.requested',
  'deadline.passed',
];
const STATES = Object.keys(cashOutMachine.states) as CashOutState[];

/** The rows of the table in machines/README.md as `from event to`. */
function documented(): string[] {
  const readme = readFileSync(new URL('../../../machines/README.md', import.meta.url), 'utf8');
  const section = readme.split('## `cash-out.ts`')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| ([a-z0-9_, ]+) \| `([a-z.]+)` \| (\w+) \|$/gm)];
  return rows
    .flatMap(([, from = '', event, to]) =>
      from.split(', ').map((state) => `${state} ${event} ${to}`),
    )
    .sort();
}

const run = (from: CashOutState, ...events: CashOutEvent[]) =>
  events.reduce<CashOutState>((state, event) => planCashOut(state, event) ?? state, from);

describe('a cash-out', () => {
  it('a cash-out moves only as the documented table of the machines says', () => {
    const moves = STATES.flatMap((from) =>
      EVENTS.flatMap((event) => {
        const to = planCashOut(from, event);
        return to === undefined ? [] : [`${from} ${event} ${to}`];
      }),
    );
    expect(moves.sort()).toEqual(documented());
  });

  it('a cash-out whose USDC was sent can be neither cancelled nor expire', () => {
    const sent = run('created', 'leg.written', 'leg.seen', 'sale.opened', 'send.reported');
    expect(sent).toBe('sent');
    expect(run(sent, 'cancel.requested', 'sale.received', 'cancel.requested')).toBe('processing');
    expect(run(sent, 'sale.received', 'sale.completed', 'deadline.passed')).toBe('completed');
  });
});
