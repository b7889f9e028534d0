import type { Queryable } from '../../platform/postgres/sql.ts';
import type { CallDeps } from '../calls/call-deps.ts';
import type { CallOwner, Calls } from '../calls/calls.ts';
import { phoneErrors } from '../errors.ts';
import { PHONE_LIMITS } from '../limits.ts';
import { admitBatch } from './admit-batch.ts';
import {
  type Batch,
  type BatchCursor,
  type BatchOrder,
  isBatchId,
  type StandingRecipient,
} from './batch.ts';
import {
  type BatchesWanted,
  countRecipients,
  findBatch,
  findBatches,
  findBatchOfWork,
  findRecipients,
  insertBatch,
} from './batch-store.ts';
import { type BatchTotals, totalsOf } from './batch-totals.ts';
import { endWaiting, findLiveCalls, setSpender, setStatus } from './change-store.ts';
import { batchErrors } from './errors.ts';

/** A batch, and how its recipients stand. */
export type StandingBatch = Batch & { readonly totals: BatchTotals };

export type BatchPage = {
  readonly batches: readonly StandingBatch[];
  /** Cursor of the next page. Undefined on the last page. */
  readonly next: BatchCursor | undefined;
};

export type RecipientPage = {
  readonly recipients: readonly StandingRecipient[];
  /** Index of the page's last recipient, from which the next page continues. Undefined on the last page. */
  readonly next: number | undefined;
};

/**
 * Batches of calls. Every method throws `telephony_unavailable` when this server has no carrier. Methods that name a batch
 * throw `not_found` when the owner has no such batch.
 */
export interface Batches {
  /** Throws the refusal of a batch with a recipient that cannot be called: then no recipient is called. */
  order(order: BatchOrder): Promise<StandingBatch>;
  /** The batch that work under an `Idempotency-Key` has ordered. */
  findOrdered(agentId: number, workId: string): Promise<StandingBatch | undefined>;
  read(owner: CallOwner, batchId: string): Promise<StandingBatch>;
  list(owner: CallOwner, page: BatchesWanted): Promise<BatchPage>;
  recipients(
    owner: CallOwner,
    batchId: string,
    page: { readonly after: number; readonly limit: number },
  ): Promise<RecipientPage>;
  /** Cancels a batch: no further call is placed. Calls in progress continue unless `hangUp` is true. */
  cancel(
    owner: CallOwner,
    batchId: string,
    how: { readonly hangUp: boolean },
  ): Promise<StandingBatch>;
  pause(owner: CallOwner, batchId: string): Promise<StandingBatch>;
  /** `spender`: whose key the batch spends with from now on. Undefined: as before. */
  resume(
    owner: CallOwner,
    batchId: string,
    spender: BatchOrder['spender'] | undefined,
  ): Promise<StandingBatch>;
}

type Deps = CallDeps & { readonly calls: Pick<Calls, 'hangUp'> };

export function createBatches(deps: Deps | undefined): Batches {
  if (deps === undefined) {
    const unavailable = async () => {
      throw phoneErrors.telephonyUnavailable();
    };
    return {
      order: unavailable,
      findOrdered: unavailable,
      read: unavailable,
      list: unavailable,
      recipients: unavailable,
      cancel: unavailable,
      pause: unavailable,
      resume: unavailable,
    };
  }
  return new OrderedBatches(deps);
}

class OrderedBatches implements Batches {
  readonly #deps: Deps;

  constructor(deps: Deps) {
    this.#deps = deps;
  }

  async order(order: BatchOrder): Promise<StandingBatch> {
    const batch = await admitBatch(this.#deps, order);
    const written = await insertBatch(this.#deps.sql, batch);
    if (written === 'too_many') throw batchErrors.tooManyBatches(PHONE_LIMITS.batch.openPerAgent);
    if (written === 'lost') throw batchErrors.stopped();
    return this.read(order, batch.batchId);
  }

  async findOrdered(agentId: number, workId: string): Promise<StandingBatch | undefined> {
    const batch = await findBatchOfWork(this.#deps.sql, agentId, workId);
    return batch && this.#standing(batch);
  }

  async read(owner: CallOwner, batchId: string): Promise<StandingBatch> {
    return this.#standing(await this.#require(this.#deps.sql, owner, batchId));
  }

  async list(owner: CallOwner, { after, limit, status }: BatchesWanted): Promise<BatchPage> {
    const { sql } = this.#deps;
    const found = await findBatches(sql, owner, { after, limit: limit + 1, status });
    const page = found.slice(0, limit);
    const counted = await countRecipients(
      sql,
      page.map(({ batchId }) => batchId),
    );
    const batches = page.map((batch) => ({
      ...batch,
      totals: totalsOf(counted.filter(({ batchId }) => batchId === batch.batchId)),
    }));
    return { batches, next: found.length > limit ? page.at(-1) : undefined };
  }

  async recipients(
    owner: CallOwner,
    batchId: string,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<RecipientPage> {
    const { sql } = this.#deps;
    await this.#require(sql, owner, batchId);
    const found = await findRecipients(sql, batchId, { after, limit: limit + 1 });
    const recipients = found.slice(0, limit);
    return { recipients, next: found.length > limit ? recipients.at(-1)?.index : undefined };
  }

  async cancel(
    owner: CallOwner,
    batchId: string,
    { hangUp }: { readonly hangUp: boolean },
  ): Promise<StandingBatch> {
    const { calls, sql } = this.#deps;
    await this.#change(owner, batchId, async (tx, { status }) => {
      if (status === 'completed') throw batchErrors.isOver(status);
      if (status === 'canceled') return;
      await setStatus(tx, batchId, 'canceled');
      await endWaiting(tx, batchId, 'canceled');
    });
    // A call that waits for its turn at the carrier has not rung: it never does.
    for (const callId of await findLiveCalls(sql, batchId, { unrung: !hangUp })) {
      await calls.hangUp(owner, callId);
    }
    return this.read(owner, batchId);
  }

  async pause(owner: CallOwner, batchId: string): Promise<StandingBatch> {
    await this.#change(owner, batchId, async (tx, { status }) => {
      requireOpen(status);
      if (status === 'running') await setStatus(tx, batchId, 'paused');
    });
    return this.read(owner, batchId);
  }

  async resume(
    owner: CallOwner,
    batchId: string,
    spender: BatchOrder['spender'] | undefined,
  ): Promise<StandingBatch> {
    await this.#change(owner, batchId, async (tx, { spender: earlier, status }) => {
      requireOpen(status);
      if (status === 'running') return;
      if (spender !== undefined) {
        await setSpender(tx, { batchId, spender: { ...earlier, ...spender } });
      }
      await setStatus(tx, batchId, 'running');
    });
    return this.read(owner, batchId);
  }

  #change(
    owner: CallOwner,
    batchId: string,
    change: (tx: Queryable, batch: Batch) => Promise<void>,
  ): Promise<void> {
    return this.#deps.sql.begin(async (tx) =>
      change(tx, await this.#require(tx, owner, batchId, { lock: true })),
    );
  }

  /** An id that cannot be one reads as that of no batch: PostgreSQL takes no NUL character, for example. */
  async #require(
    sql: Queryable,
    owner: CallOwner,
    batchId: string,
    lock?: { readonly lock: boolean },
  ): Promise<Batch> {
    const batch = isBatchId(batchId) ? await findBatch(sql, owner, batchId, lock) : undefined;
    if (batch === undefined) throw batchErrors.notFound();
    return batch;
  }

  async #standing(batch: Batch): Promise<StandingBatch> {
    return { ...batch, totals: totalsOf(await countRecipients(this.#deps.sql, [batch.batchId])) };
  }
}

/** Throws for a batch that is over. */
function requireOpen(status: Batch['status']): void {
  if (status === 'canceled' || status === 'completed') throw batchErrors.isOver(status);
}
