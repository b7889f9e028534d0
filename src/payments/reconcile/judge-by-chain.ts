import { type Clock, sleep, within } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log.ts';
import { authorizationStates } from '../../platform/chain/authorization-states.ts';
import type { Rpc } from '../../platform/chain/rpc.ts';
import type { Block } from '../../platform/chain/rpc-answers.ts';
import { outgoing } from '../../platform/chain/usdc.ts';
import { PAYMENT_LIMITS } from '../limits.ts';
import type { Reservation } from '../reservations/reservation.ts';

/** Verdict of the chain on a payment, from blocks with `confirmations` blocks on top. */
export type ChainVerdict =
  | { readonly kind: 'used'; readonly txHash: string }
  /** The authorization was not used, and can never be used any more. */
  | { readonly kind: 'void' }
  | { readonly kind: 'undecided' };

export type ChainView = {
  readonly rpc: Rpc;
  readonly usdc: string;
  /** Number of blocks that must stand on top of a block before it is believed. */
  readonly confirmations: number;
};

/** The fields that identify a payment on the chain. */
export type Payment = Pick<
  Reservation,
  'wallet' | 'nonce' | 'payee' | 'valueRaw' | 'validBefore' | 'reservedMs'
>;

export interface ChainJudge {
  /** Reads the chain once, in bounded time. Never rejects: an unreachable chain is `undecided`. */
  ask(payment: Payment): Promise<ChainVerdict>;
  /**
   * Reads the chain repeatedly until it has decided, for at most `withinMs`. Never rejects: an unreachable chain is
   * `undecided`.
   */
  wait(payment: Payment, withinMs: number): Promise<ChainVerdict>;
}

const UNDECIDED: ChainVerdict = { kind: 'undecided' };

/**
 * Creates the judge, which reads the chain for one payment at a time. The reconciler reads the chain for all payments together.
 */
export function createChainJudge(deps: {
  /** Undefined when there is no chain. */
  readonly view: ChainView | undefined;
  readonly clock: Clock;
  readonly log: Log;
}): ChainJudge {
  const { view, clock, log } = deps;

  async function ask(payment: Payment): Promise<ChainVerdict> {
    if (view === undefined) return UNDECIDED;
    try {
      const block = await deepBlock(view);
      return block === undefined ? UNDECIDED : await judge(view, block, payment);
    } catch (err) {
      log.warn({ err, nonce: payment.nonce }, 'the chain could not be asked about a payment');
      return UNDECIDED;
    }
  }

  const askWithin = (payment: Payment, ms: number) =>
    within(clock, ms, ask(payment), () => UNDECIDED);

  return {
    ask: (payment) => askWithin(payment, PAYMENT_LIMITS.lateAnswer.chainAskMs),
    async wait(payment, withinMs) {
      const end = clock.monotonicMs() + withinMs;
      for (;;) {
        const untilMs = Math.max(0, end - clock.monotonicMs());
        const verdict = await askWithin(payment, untilMs);
        const leftMs = end - clock.monotonicMs();
        if (verdict.kind !== 'undecided' || leftMs <= 0) return verdict;
        await sleep(clock, Math.min(PAYMENT_LIMITS.lateAnswer.pollMs, leftMs));
      }
    },
  };
}

/** Returns the last block that is believed. Undefined while the chain has fewer blocks than the confirmations. */
export async function deepBlock({ rpc, confirmations }: ChainView): Promise<Block | undefined> {
  const head = await rpc.head();
  if (confirmations === 0) return head;
  return head.number < confirmations ? undefined : rpc.block(head.number - confirmations);
}

/**
 * Decides a payment by one block: its time and the authorization's state come from the same block, so a lagging node cannot
 * show a payment as void. A used authorization needs a log that explains it; without the log the payment is `undecided`.
 *
 * @internal Tests choose the block, which the head does not move.
 */
export async function judge(
  view: ChainView,
  block: Block,
  payment: Payment,
): Promise<ChainVerdict> {
  const { rpc, usdc } = view;
  const [state] = await authorizationStates(rpc, usdc, block, [payment]);
  if (state === undefined) return UNDECIDED;
  if (state === false) {
    return block.timestampSec >= payment.validBefore ? { kind: 'void' } : UNDECIDED;
  }
  return explain(view, block, payment);
}

/** Looks for the log of an authorization that was used or canceled. */
export async function explain(
  { rpc, usdc }: ChainView,
  to: Block,
  { wallet, nonce, payee, valueRaw, reservedMs }: Payment,
): Promise<ChainVerdict> {
  // Blocks are at least a second apart, so the age in seconds bounds the number of blocks; the margin covers a chain clock that
  // is behind.
  const seconds = Math.max(0, to.timestampSec - Math.floor(reservedMs / 1_000)) + MARGIN_BLOCKS;
  const fromBlock = Math.max(0, to.number - Math.min(seconds, PAYMENT_LIMITS.chain.lookBackBlocks));
  const { used, canceled } = await outgoing(rpc, usdc, [wallet], { fromBlock, to });
  const found = used.find((event) => event.nonce === nonce && event.authorizer === wallet);
  if (found !== undefined) {
    const { transfer, txHash } = found;
    // We sign transfers to the payee only: without such a transfer this is not what we signed.
    return transfer?.to === payee && transfer.valueRaw === valueRaw
      ? { kind: 'used', txHash }
      : UNDECIDED;
  }
  const isCanceled = canceled.some((event) => event.nonce === nonce && event.authorizer === wallet);
  return isCanceled ? { kind: 'void' } : UNDECIDED;
}

const MARGIN_BLOCKS = 120;
