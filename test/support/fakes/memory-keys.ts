import type {
  IdempotencyKeys,
  KeyClaim,
  StandingKey,
  WorkFate,
} from '../../../src/idempotency/idempotency-store.ts';

type Row = {
  claim: KeyClaim;
  state: 'in_flight' | 'done';
  answer: Uint8Array | null;
  expiresMs: number;
  life: number;
};

export type MemoryKeys = IdempotencyKeys & {
  /** What the ledger is to say of a piece of work; nothing was held where nothing is said. */
  readonly fates: Map<string, WorkFate>;
  /** The process that has the keys now in flight dies; those taken from here on are another one's. */
  die(): void;
  /** As an expired lease would: nothing is taken until it is renewed. */
  loseLease(): void;
  renewLease(): void;
  /** The next calls fail so, one each. */
  readonly failures: Error[];
};

/** The contract of the table in memory, for one database and the processes on it, one at a time. */
export function memoryKeys(now: () => number, windowMs: number): MemoryKeys {
  const rows = new Map<string, Row>();
  const fates = new Map<string, WorkFate>();
  const failures: Error[] = [];
  let life = 1;
  let leaseHolds = true;
  const at = ({ owner, key }: { owner: string; key: string }) => JSON.stringify([owner, key]);
  const fresh = (claim: KeyClaim): Row => ({
    claim,
    state: 'in_flight',
    answer: null,
    expiresMs: now() + windowMs,
    life,
  });
  const fail = () => {
    const failure = failures.shift();
    if (failure !== undefined) throw failure;
  };
  const standing = (row: Row): StandingKey => ({
    method: row.claim.method,
    path: row.claim.path,
    workId: row.claim.workId,
    state: row.state,
    answer: row.answer,
    ownerLives: row.life === life && leaseHolds,
    isOver: row.expiresMs <= now(),
  });

  return {
    fates,
    failures,
    die() {
      life++;
    },
    loseLease() {
      leaseHolds = false;
    },
    renewLease() {
      leaseHolds = true;
    },
    async take(claim) {
      fail();
      const row = rows.get(at(claim));
      const isFree =
        row === undefined ||
        row.claim.workId === claim.workId ||
        (row.state === 'done' && row.expiresMs <= now());
      if (!isFree) return { kind: 'standing', standing: standing(row) };
      if (!leaseHolds) return { kind: 'lease_lost' };
      rows.set(at(claim), fresh(claim));
      return { kind: 'taken' };
    },
    async forbid() {
      fail();
    },
    async fateOf(workId) {
      fail();
      return fates.get(workId) ?? { kind: 'unpaid' };
    },
    async takeOver(claim, fromWorkId) {
      fail();
      const row = rows.get(at(claim));
      if (row?.state !== 'in_flight') return false;
      if (![fromWorkId, claim.workId].includes(row.claim.workId)) return false;
      rows.set(at(claim), fresh(claim));
      return true;
    },
    async finish(work, answer, keepMs) {
      fail();
      const row = rows.get(at(work));
      if (row?.claim.workId !== work.workId) return false;
      const expiresMs = Math.max(row.expiresMs, now() + keepMs);
      rows.set(at(work), { ...row, state: 'done', answer, expiresMs });
      return true;
    },
    async free(work) {
      fail();
      const row = rows.get(at(work));
      if (row?.claim.workId === work.workId && row.state === 'in_flight') rows.delete(at(work));
    },
  };
}
