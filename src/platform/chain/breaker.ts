import type { Clock } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { BREAKER_REASONS, type BreakerReading, findReason, isOld } from './breaker-rules.ts';
import { type Feeds, readFeeds } from './feeds.ts';
import { CHAIN_LIMITS } from './limits.ts';
import type { Rpc } from './rpc.ts';

/** Verdict on paid requests. They are refused while the breaker is active, and while the chain cannot be read. */
export type BreakerVerdict = {
  readonly kind: 'clear' | 'active' | 'stale';
  /** Number of the reason in `GET /v1/status`; 0 when clear. */
  readonly reason: number;
  readonly reasonText: string;
};

export type EtherPrice = { readonly priceUsd: string; readonly isStale: boolean };

/** Remembers the state of the chain, so that no paid request has to query the chain. */
export interface Breaker {
  /** Returns the verdict by the last reading, without a request. */
  check(): BreakerVerdict;
  /**
   * Reads the chain once; called every `CHAIN_LIMITS.breaker.tickMs`. Never rejects: after the second failure in a row the verdict is
   * stale.
   */
  tick(): Promise<void>;
  /** Returns the price of the last reading. */
  price(): EtherPrice | undefined;
}

export type BreakerRpc = Pick<Rpc, 'call' | 'head' | 'chainId'>;

type Reading = BreakerReading & { readonly atMs: number };

const CLEAR: BreakerVerdict = { kind: 'clear', ...BREAKER_REASONS.none };
const stale = (reasonText: string): BreakerVerdict => ({
  kind: 'stale',
  reason: BREAKER_REASONS.unreadable.reason,
  reasonText,
});

/** Creates the breaker. Without a node it is stale for ever, which refuses every paid request. */
export function createBreaker(deps: {
  readonly rpc: BreakerRpc | undefined;
  readonly feeds: Feeds;
  readonly chainId: number;
  /** Seconds by which the time of the chain and of this server may differ. */
  readonly skewSeconds: number;
  readonly clock: Clock;
  readonly log: Log;
}): Breaker {
  const { rpc, feeds, chainId, skewSeconds, clock, log } = deps;
  let rightChain = false;
  let last: Reading | undefined;
  let failures = 0;
  let unreadable = stale(
    rpc
      ? 'the chain was not read yet'
      : 'no chain node is configured: the operator names one in RPC_URL',
  );
  let reading: Promise<void> | undefined;
  let reported: string | undefined;

  const read = async (node: BreakerRpc): Promise<BreakerVerdict | Reading> => {
    rightChain ||= (await node.chainId()) === chainId;
    if (!rightChain) return stale('the node is of another chain');
    const head = await node.head();
    const found = await readFeeds(node, feeds, head, last?.feeds);
    if (typeof found === 'string') return stale(`the ${found} feed cannot be read`);
    return { head, feeds: found, atMs: clock.monotonicMs() };
  };

  const take = async (node: BreakerRpc): Promise<void> => {
    try {
      const found = await read(node);
      failures = 0;
      if ('kind' in found) {
        last = undefined;
        unreadable = found;
      } else {
        last = found;
        unreadable = stale(BREAKER_REASONS.unreadable.reasonText);
      }
    } catch (err) {
      failures++;
      log.warn({ err }, 'the chain cannot be read for the circuit breaker');
      if (last === undefined) unreadable = stale(BREAKER_REASONS.unreadable.reasonText);
    }
    report(check());
  };

  const sinceMs = ({ atMs }: Reading) => clock.monotonicMs() - atMs;

  const check = (): BreakerVerdict => {
    if (last === undefined || failures >= CHAIN_LIMITS.breaker.failedReadings) return unreadable;
    if (sinceMs(last) > CHAIN_LIMITS.breaker.readingMs) return unreadable;
    const nowSec = clock.now() / 1_000;
    const reason = findReason(last, { nowSec, sinceSec: sinceMs(last) / 1_000, skewSeconds });
    return reason === 'none' ? CLEAR : { kind: 'active', ...BREAKER_REASONS[reason] };
  };

  /** Logs when the breaker trips and when it clears, and not at each reading. */
  const report = ({ kind, reasonText }: BreakerVerdict): void => {
    if (reported === reasonText) return;
    reported = reasonText;
    if (kind === 'clear') log.info('paid requests may go out');
    else log.warn({ kind, reasonText }, 'paid requests are refused');
  };

  return {
    check,
    async tick() {
      if (rpc === undefined) return;
      reading ??= take(rpc).finally(() => {
        reading = undefined;
      });
      await reading;
    },
    price() {
      if (last === undefined) return undefined;
      const { price, decimals } = last.feeds;
      const chainSec = last.head.timestampSec + sinceMs(last) / 1_000;
      return {
        priceUsd: formatPrice(price.answer, decimals),
        isStale: isOld(price.updatedAtSec, chainSec),
      };
    },
  };
}

/**
 * Returns a feed's answer in dollars with all its decimals: `312055000000n` with 8 decimals reads `3120.55`.
 *
 * @internal Tests go through decimals and signs that no feed has.
 */
export function formatPrice(answer: bigint, decimals: number): string {
  const digits = (answer < 0n ? -answer : answer).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = digits.slice(digits.length - decimals).replace(/0+$/, '');
  return `${answer < 0n ? '-' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}
