import { MODES, POINTS } from './payment-battery.ts';
import type { Ended } from './payment-verdict.ts';

const SHORT: Readonly<Record<string, string>> = {
  pending_settlement: 'pending',
  expired_unsettled: 'expired',
  payment_rejected: 'rejected',
};
const short = (state: string): string => SHORT[state] ?? state;

const cellOf = ({ atCrash, ends, told }: Ended): string => {
  const before = atCrash === undefined ? '' : `${atCrash.split('+').map(short).join('+')} → `;
  return `${before}${ends.map(short).join(', then ')} / ${told}`;
};

/**
 * The battery as a table: a line a mode and form of call, a column a point at which the server was killed. A cell has
 * the state that the row was left in, the ends of its payments, and what the caller was told.
 */
export function tableOf(ended: readonly Ended[]): string {
  const points = POINTS.filter(({ name }) => ended.some(({ row }) => row.point.name === name));
  const lines = MODES.flatMap((mode) =>
    [true, false].flatMap((keyed) => {
      const ofLine = ended.filter(({ row }) => row.mode === mode && row.keyed === keyed);
      if (ofLine.length === 0) return [];
      const cells = points.map(({ name }) => cellsOf(ofLine.filter(isAt(name))));
      return [[mode.name, keyed ? 'key' : '', ...cells]];
    }),
  );
  const head = ['mode', '', ...points.map(({ name }) => name)];
  return [head, head.map(() => '---'), ...lines]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .join('\n');
}

const isAt =
  (name: string) =>
  ({ row }: Ended): boolean =>
    row.point.name === name;

/** Both versions in one cell where they came to the same, and each with its name where they did not. */
function cellsOf(ended: readonly Ended[]): string {
  const cells = new Map<string, number[]>();
  for (const each of ended) {
    const cell = cellOf(each);
    cells.set(cell, [...(cells.get(cell) ?? []), each.row.version]);
  }
  if (cells.size === 0) return '–';
  const [only] = cells.keys();
  if (cells.size === 1 && only !== undefined) return only;
  return [...cells].map(([cell, versions]) => `v${versions.join(', v')}: ${cell}`).join('; ');
}
