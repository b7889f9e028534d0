import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  planTransfer,
  type TransferEvent,
  type TransferState,
  transferMachine,
} from '../../../machines/transfer.ts';

const EVENTS: readonly TransferEvent[] = [
  'execution.requested',
  'transaction.sent',
  'transfer.seen',
  'transaction.refused',
  'deadline.passed',
];
const STATES = Object.keys(transferMachine.states) as TransferState[];

/** The rows of the table in machines/README.md as `from event to`. */
function documented(): string[] {
  const readme = readFileSync(new URL('../../../machines/README.md', import.meta.url), 'utf8');
  const section = readme.split('## `transfer.ts`')[1]?.split('\n## ')[0] ?? '';
  const rows = [...section.matchAll(/^\| ([a-z0-9_, ]+) \| `([a-z.]+)` \| (\w+) \|$/gm)];
  return rows
    .flatMap(([, from = '', event, to]) =>
      from.split(', ').map((state) => `${state} ${event} ${to}`),
    )
    .sort();
}

const run = (from: TransferState, ...events: TransferEvent[]) =>
  events.reduce<TransferState>((state, event) => planTransfer(state, event) ?? state, from);

describe('a transfer', () => {
  it('a transfer moves only as the documented table of the machines says', () => {
    const moves = STATES.flatMap((from) =>
      EVENTS.flatMap((event) => {
        const to = planTransfer(from, event);
        return to === undefined ? [] : [`${from} ${event} ${to}`];
      }),
    );
    expect(moves.sort()).toEqual(documented());
  });

  it('a transfer that was executed neither expires nor is executed again', () => {
    const executed = run('prepared', 'execution.requested');
    expect(run(executed, 'deadline.passed', 'execution.requested')).toBe('executing');
    expect(run(executed, 'transaction.sent', 'transfer.seen', 'transaction.refused')).toBe(
      'completed',
    );
  });
});
