import { type Clock, sleep, within } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import type { Log } from '../../kernel/log.ts';
import { authorizationStates } from '../../platform/chain/authorization-states.ts';
import type { Rpc } from '../../platform/chain/rpc.ts';
import type { Block } from '../../platform/chain/rpc-answers.ts';
import { outgoing } from '../../platform/chain/usdc.ts';
import type { Reservation } from '../reservations/reservation.ts';

/** Whether a payment was made. The chain's word, from blocks that are deep enough. */
export type ChainVerdict =
  | { readonly kind: 'used'; readonly txHash: string }
  /** It was not, and can never be any more. */
  | { readonly kind: 'void' }
  | { readonly kind: 'undecided' };

export type ChainView = {
  readonly rpc: Rpc;
  readonly usdc: string;
  /** How many blocks must stand on one before it is believed. */
  readonly confirmations: number;
};

/** What one payment needs to be known by. */
export type Payment = Pick<
  Reservation,
  'wallet' | 'nonce' | 'payee' | 'valueRaw' | 'validBefore' | 'reservedMs'
>;

export interface ChainJudge {
  /** Asks once, in bounded time. Never rejects, like `wait`. */
  ask(payment: Payment): Promise<ChainVerdict>;
  /** Asks until the chain has decided, or so long. Never rejects: a chain that is away is undecided. */
  wait(payment: Payment, withinMs: number): Promise<ChainVerdict>;
}

const UNDECIDED: ChainVerdict = { kind: 'undecided' };

/** Asks the chain about one payment at a time; the reconciler asks about all of them at once. */
export function createChainJudge(deps: {
  /** Undefined: there is no chain. */
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
    ask: (payment) => askWithin(payment, LIMITS.chainAskMs),
    async wait(payment, withinMs) {
      const end = clock.monotonicMs() + withinMs;
      for (;;) {
        const untilMs = Math.max(0, end - clock.monotonicMs());
        const verdict = await askWithin(payment, untilMs);
        const leftMs = end - clock.monotonicMs();
        if (verdict.kind !== 'undecided' || leftMs <= 0) return verdict;
        await sleep(clock, Math.min(LIMITS.lateAnswerPollMs, leftMs));
      }
    },
  };
}

/** The last block that is believed; undefined while the chain is shorter. */
export async function deepBlock({ rpc, confirmations }: ChainView): Promise<Block | undefined> {
  const head = await rpc.head();
  if (confirmations === 0) return head;
  return head.number < confirmations ? undefined : rpc.block(head.number - confirmations);
}

/**
 * What one block says of one payment: its time and the authorization's state are of the same block, so that no lagging
 * node can make a payment out to be void. A state that is set is explained by a log, or by nothing.
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

/** Looks for the log of an authorization that is not unused any more. */
export async function explain(
  { rpc, usdc }: ChainView,
  to: Block,
  { wallet, nonce, payee, valueRaw, reservedMs }: Payment,
): Promise<ChainVerdict> {
  // At least a second a block; a chain whose clock is behind is looked at a little further back.
  const seconds = Math.max(0, to.timestampSec - Math.floor(reservedMs / 1_000)) + MARGIN_BLOCKS;
  const fromBlock = Math.max(0, to.number - Math.min(seconds, LIMITS.lookBackBlocks));
  const { used, canceled } = await outgoing(rpc, usdc, [wallet], { fromBlock, to });
  const found = used.find((event) => event.nonce === nonce && event.authorizer === wallet);
  if (found !== undefined) {
    const { transfer, txHash } = found;
    // We sign transfers to the payee only: without one this is not what we signed.
    return transfer?.to === payee && transfer.valueRaw === valueRaw
      ? { kind: 'used', txHash }
      : UNDECIDED;
  }
  const isCanceled = canceled.some((event) => event.nonce === nonce && event.authorizer === wallet);
  return isCanceled ? { kind: 'void' } : UNDECIDED;
}

const MARGIN_BLOCKS = 120;
