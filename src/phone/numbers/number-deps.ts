import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Sql } from '../../platform/postgres/sql.ts';
import type { Carrier } from '../carriers/carrier.ts';

/** The part of a carrier that sells numbers. */
export type NumberCarrier = Pick<Carrier, 'name' | 'numbers'>;

/** Dependencies of all functions that move a number or its money. */
export type NumberDeps = {
  readonly sql: Sql;
  readonly ledger: Pick<Ledger, 'hold' | 'settle'>;
  readonly seller: NumberCarrier;
  readonly clock: Clock;
  /** Returns the database's time in Unix milliseconds. */
  readonly now: () => number;
  readonly log: Log;
};
