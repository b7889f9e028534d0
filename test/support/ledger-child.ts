import { type DatabaseTarget, openSql } from '../../src/platform/postgres/sql.ts';
import {
  type LoadResult,
  liveLedger,
  loadLedger,
  type Spendable,
  spendUnits,
} from './ledger-load.ts';
import { DESTINATION } from './spending.ts';

/** What a parent may ask of a process that has a ledger of its own. */
export type ChildTask =
  | {
      readonly kind: 'race';
      readonly agent: Spendable;
      readonly holds: number;
      readonly prefix: string;
    }
  | {
      readonly kind: 'load';
      readonly agents: readonly Spendable[];
      readonly callers: number;
      readonly forMs: number;
      readonly prefix: string;
    }
  /** Buys a raw unit at a time, many at once. */
  | {
      readonly kind: 'spend';
      readonly agent: Spendable;
      readonly works: number;
      readonly prefix: string;
    };

export type ChildAnswer =
  | { readonly kind: 'ready' }
  | { readonly kind: 'raced'; readonly held: number; readonly mostMisses: number }
  | ({ readonly kind: 'loaded' } & LoadResult)
  | { readonly kind: 'spent'; readonly works: number }
  | { readonly kind: 'failed'; readonly message: string };

const [, , target = '', nodeId = ''] = process.argv;
const sql = openSql(JSON.parse(target) as DatabaseTarget, 4);
const ledger = liveLedger(sql, nodeId);

async function run(task: ChildTask): Promise<ChildAnswer> {
  if (task.kind === 'load')
    return { kind: 'loaded', ...(await loadLedger(ledger, task.agents, task)) };
  if (task.kind === 'spend') {
    await spendUnits(ledger, task.agent, task.works, task.prefix);
    return { kind: 'spent', works: task.works };
  }
  const verdicts = await Promise.all(
    Array.from({ length: task.holds }, (_, i) =>
      ledger.hold({
        spender: task.agent,
        holdId: `${task.prefix}-${i}`,
        amountRaw: 1n,
        destination: DESTINATION,
      }),
    ),
  );
  const held = verdicts.filter((verdict) => verdict.kind === 'held').length;
  return { kind: 'raced', held, mostMisses: ledger.counters.mostMisses };
}

process.on('message', (task: ChildTask) => {
  run(task).then(
    (answer) => process.send?.(answer),
    (error: unknown) => process.send?.({ kind: 'failed', message: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ kind: 'ready' });
