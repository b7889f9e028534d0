import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import type { Random } from '../../kernel/random.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { Hold } from '../../ledger/rules/requests.ts';
import type { PassthroughLog } from '../../payments/proxy/passthrough-log.ts';
import type { Queryable, Sql } from '../../platform/postgres/sql.ts';
import type { FetchFile, FileCallerOf } from '../fetch-file.ts';
import type { MarketAddress } from '../market-address.ts';
import type { MarketSlots } from '../market-slots.ts';
import type { OpenAccount } from '../open-accounts.ts';
import type { Owner, Tripwires } from '../tripwires/tripwires.ts';
import type { Vendor } from '../vendor.ts';
import type { VendorClientDeps } from '../vendor-client.ts';
import type { VendorFiles } from './vendor-files.ts';

/** Points between two steps of a job. A test may end the process at each point. */
export type JobPoint =
  | 'written'
  | 'held'
  | 'created'
  | 'uploaded'
  | 'queued'
  | 'withdrawn'
  | 'claimed'
  | 'start written'
  | 'started'
  | 'looked'
  | 'fetched'
  | 'decided'
  | 'settled'
  | 'finished';

export type JobDeps = VendorClientDeps & {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly ledger: Pick<Ledger, 'funds' | 'hold' | 'settle'>;
  readonly address: MarketAddress;
  readonly vendors: readonly Vendor[];
  readonly accounts: ReadonlyMap<string, OpenAccount>;
  readonly rooms: MarketSlots;
  readonly tripwires: Tripwires;
  readonly files: VendorFiles;
  readonly fetchFile: FetchFile;
  readonly fileCallerOf: FileCallerOf;
  /** Finds the account of an agent, which gets the events of its jobs. */
  readonly findOwner: (agentId: number) => Promise<Owner | undefined>;
  /** Finds an open hold. Undefined when the hold is not open. */
  readonly findHold: (holdId: string) => Promise<Hold | undefined>;
  /** Writes lines of the agent's history inside a transaction. */
  readonly note: (
    tx: Queryable,
    lines: readonly Parameters<PassthroughLog['add']>[0][],
  ) => Promise<void>;
  /** Called at every step, which waits for its promise. */
  readonly onPoint?: ((point: JobPoint) => Promise<void> | undefined) | undefined;
};
