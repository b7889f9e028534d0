import { type Clock, within } from '../kernel/clock.ts';
import type { Log } from '../kernel/log.ts';
import { createRetry } from '../ledger/engine/retry.ts';
import { answerWithin, isTransient } from '../platform/postgres/transient.ts';
import type { IdempotencyKeys, KeyWork } from './idempotency-store.ts';
import { IDEMPOTENCY_LIMITS } from './limits.ts';

/** Outcome of the work under a key: done with a kept answer, done with one that is not kept, or not done. */
export type WorkOutcome =
  | { readonly kind: 'done'; readonly work: KeyWork; readonly answer: Uint8Array | null }
  | { readonly kind: 'undone'; readonly work: KeyWork };

/** Outcome that is not written yet. A doubtful claim is a claim without an answer of the database. */
type Unwritten =
  | WorkOutcome
  | { readonly kind: 'doubtful'; readonly work: KeyWork; readonly freedMs: number | undefined };

export type OutcomeKeeper = {
  /**
   * Writes an outcome within `IDEMPOTENCY_LIMITS.storeMs`, and never rejects: an outcome that is not written by then is kept for
   * a retry.
   */
  write(outcome: WorkOutcome): Promise<void>;
  /**
   * Frees the key of a claim that was abandoned without an answer. The claim may still be written later, so the key is freed a
   * second time after a delay.
   */
  doubt(work: KeyWork): void;
  /** Retries the outcomes that could not be written. */
  tick(): Promise<void>;
  /** Number of outcomes that are not written yet. */
  readonly size: number;
};

/**
 * Writes the outcomes of keyed work. After a lost connection the caller waits a moment; while the database is away outcomes are
 * remembered here, with their answers up to a bound of bytes. An answer beyond that bound cannot be replayed. Beyond the bound
 * on their number the oldest outcome is forgotten: its key stays in flight until this process ends.
 */
export function createOutcomeKeeper(deps: {
  readonly keys: Pick<IdempotencyKeys, 'finish' | 'free'>;
  readonly clock: Clock;
  readonly log: Log;
}): OutcomeKeeper {
  const { keys, clock, log } = deps;
  const retry = createRetry(clock);
  const unwritten = new Map<string, Unwritten>();
  let heldBytes = 0;

  const send = async (outcome: Unwritten): Promise<void> => {
    const { work } = outcome;
    if (outcome.kind !== 'done') return keys.free(work);
    const isOurs = await keys.finish(work, outcome.answer, IDEMPOTENCY_LIMITS.windowMs);
    if (!isOurs) log.warn({ workId: work.workId }, 'a key was taken over before its work ended');
  };

  const remember = (outcome: Unwritten) => {
    const { most, bytes } = IDEMPOTENCY_LIMITS.unwritten;
    const { work } = outcome;
    const fits = heldBytes + sizeOf(outcome) <= bytes;
    const kept: Unwritten = fits ? outcome : { kind: 'done', work, answer: null };
    unwritten.set(work.workId, kept);
    heldBytes += sizeOf(kept);
    const [oldest] = unwritten.values();
    if (unwritten.size > most && oldest !== undefined) forget(oldest);
  };
  const forget = (outcome: Unwritten) => {
    if (unwritten.delete(outcome.work.workId)) heldBytes -= sizeOf(outcome);
  };
  const written = (outcome: Unwritten) => {
    forget(outcome);
    if (outcome.kind !== 'doubtful') return;
    const nowMs = clock.monotonicMs();
    const freedMs = outcome.freedMs ?? nowMs;
    if (nowMs - freedMs < IDEMPOTENCY_LIMITS.unwritten.doubtMs) remember({ ...outcome, freedMs });
  };

  return {
    async write(outcome) {
      const end = clock.monotonicMs() + IDEMPOTENCY_LIMITS.storeMs;
      const sent = retry(() => send(outcome), { until: () => clock.monotonicMs() >= end });
      try {
        await within(clock, IDEMPOTENCY_LIMITS.storeMs, sent, () => {
          throw new Error('the database has not answered');
        });
      } catch (err) {
        log.error({ err, workId: outcome.work.workId }, 'the end of keyed work is not written yet');
        remember(outcome);
      }
    },
    async tick() {
      for (const outcome of [...unwritten.values()].slice(
        0,
        IDEMPOTENCY_LIMITS.unwritten.perTick,
      )) {
        try {
          await answerWithin(clock, IDEMPOTENCY_LIMITS.storeMs, send(outcome));
        } catch (err) {
          if (isTransient(err)) throw err;
          log.error(
            { err, workId: outcome.work.workId },
            'the end of keyed work cannot be written',
          );
        }
        written(outcome);
      }
    },
    doubt: (work) => remember({ kind: 'doubtful', work, freedMs: undefined }),
    get size() {
      return unwritten.size;
    },
  };
}

const sizeOf = (outcome: Unwritten): number =>
  outcome.kind === 'done' ? (outcome.answer?.byteLength ?? 0) : 0;
