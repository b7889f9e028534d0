import { type Clock, sleep } from '../../../kernel/clock.ts';
import type { Random } from '../../../kernel/random.ts';
import type { StopSignal } from '../../../kernel/stop-signal.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import { type Completed, type Declined, failed, type Outcome } from '../outcome.ts';
import type { PaymentMethod } from '../payment-method.ts';
import type { UpstreamPool } from '../upstream-pool.ts';
import {
  type VendorClient,
  VendorFailed,
  VendorGaveUp,
  type VendorResponse,
  VendorSaidTooMuch,
} from './vendor-api.ts';

type Unserved = Exclude<Outcome<never>, Completed<unknown>>;

/** Thrown when a request to the vendor has no successful answer. `outcome` has the reason. */
class RequestUnserved extends Error {
  readonly outcome: Unserved;

  constructor(outcome: Unserved) {
    super(outcome.kind);
    this.outcome = outcome;
  }
}

type Order = {
  readonly signal: StopSignal;
  readonly paymentMethod: PaymentMethod | undefined;
};

/**
 * Carries out one order, which takes several requests, over a pool and within the time limit of one request. Failures of the
 * vendor are outcomes and not rejections.
 */
export async function orderOver<T extends object>(
  deps: {
    readonly pool: Pick<UpstreamPool, 'whole'>;
    readonly clock: Clock;
    readonly random: Random;
    readonly totalMs?: number | undefined;
  },
  order: Order,
  carryOut: (door: VendorClient) => Promise<T>,
): Promise<Outcome<T>> {
  const { signal } = order;
  try {
    return { kind: 'completed', status: 200, ...(await carryOut(openDoor(deps, order))) };
  } catch (error) {
    if (error instanceof RequestUnserved) return error.outcome;
    if (error instanceof VendorGaveUp) return refusalOf(error);
    if (error instanceof VendorSaidTooMuch) return failed('oversize', error.message, 200);
    if (error instanceof VendorFailed) return failed('broken', error.message, 200);
    if (signal.aborted) return { kind: 'aborted' };
    throw error;
  }
}

/**
 * Returns the refusal of a file that the vendor gave up on. As a failure, files of one caller would disable the vendor for all
 * callers.
 */
const refusalOf = ({ message }: VendorGaveUp): Declined => ({
  kind: 'declined',
  status: 422,
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify({ error: { message, type: 'invalid_request_error' } })),
});

function openDoor(
  { clock, pool, random, totalMs = MODEL_LIMITS.upstream.totalMs }: Parameters<typeof orderOver>[0],
  { paymentMethod, signal }: Order,
): VendorClient {
  const deadlineMs = clock.monotonicMs() + totalMs;
  return {
    random,
    async abandon({ body = null, ...request }) {
      const over = new AbortController();
      const late = clock.setTimeout(() => over.abort(), MODEL_LIMITS.vendor.abandonMs);
      try {
        const sent = () => ({ ...request, body, paymentMethod });
        await pool.whole<object>(sent, over.signal, ({ status }) => ({
          kind: 'completed',
          status,
        }));
      } finally {
        clock.clearTimeout(late);
      }
    },
    async send({ body = null, ...request }): Promise<VendorResponse> {
      const outcome = await pool.whole<{ readonly answer: VendorResponse }>(
        () => ({ ...request, body, paymentMethod }),
        signal,
        (answer) => ({ kind: 'completed', status: answer.status, answer }),
      );
      if (outcome.kind === 'completed') return outcome.answer;
      throw new RequestUnserved(outcome);
    },
    async pause(ms) {
      const leftMs = deadlineMs - clock.monotonicMs();
      await sleep(clock, Math.max(0, Math.min(ms, leftMs)), signal);
      if (signal.aborted) throw new RequestUnserved({ kind: 'aborted' });
      if (leftMs <= ms) throw new RequestUnserved(failed('timeout', 'the answer took too long'));
    },
  };
}
