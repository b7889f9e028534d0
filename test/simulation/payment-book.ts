import { isLive, type ReservationState } from '../../machines/reservation.ts';
import type { AgentBatch, Change, Companion } from '../../src/ledger/rules/change.ts';
import type { MemoryLedger } from '../support/fakes/memory-ledger.ts';
import type { SimChain } from './sim-chain.ts';

/** Every step that a payment may take, and no other. */
const STEPS: Readonly<Record<ReservationState, readonly ReservationState[]>> = {
  reserved: [
    ...(['sent', 'pending_settlement', 'settled', 'expired_unsettled'] as const),
    ...(['payment_rejected', 'released'] as const),
  ],
  sent: ['pending_settlement', 'settled', 'expired_unsettled', 'payment_rejected', 'released'],
  pending_settlement: ['settled', 'expired_unsettled', 'payment_rejected'],
  settled: [],
  expired_unsettled: [],
  payment_rejected: [],
  released: [],
};

type Payment = {
  readonly agentId: number;
  readonly holdId: string;
  readonly valueRaw: bigint;
  readonly validBefore: number;
  state: ReservationState;
  isCorrected: boolean;
};

type Payout = { readonly agentId: number; readonly amountRaw: bigint; readonly kind: string };
type Moved = Extract<Companion, { row: 'reservation.moved' }>;
type WalletBook = { walletRaw: bigint; promisedRaw: bigint };

/**
 * An account of its own of what was signed away and what became of it, kept from what stands, one change after the
 * other, and held against the chain: what the ledger says of wallets must be that, and nothing is taken or given back
 * without the chain's word.
 */
export class PaymentBook {
  readonly payments = new Map<string, Payment>();
  readonly #byHold = new Map<string, Payment>();
  readonly #payouts = new Map<string, Payout>();
  readonly #wallets = new Map<number, WalletBook>();
  /** Nonces of those that the chain has yet to decide. */
  readonly live = new Set<string>();
  /** Signatures that have left their process: the vendor may hold them. */
  readonly handed = new Set<string>();
  readonly #store: MemoryLedger;
  readonly #chain: SimChain;
  /** How often each end was come to, and each kind of payout paid. */
  readonly ends = new Map<string, number>();

  constructor(store: MemoryLedger, chain: SimChain) {
    this.#store = store;
    this.#chain = chain;
  }

  get openPayouts(): ReadonlyMap<string, Payout> {
    return this.#payouts;
  }

  /** Records the effects of an agent's batch that stands, and returns those that should not have been. */
  applied(part: AgentBatch): string[] {
    const found: string[] = [];
    const { agentId } = part;
    for (const change of part.changes) {
      if (change.probe) continue;
      if (change.posting?.code === 'funding.deposit') {
        this.#walletOf(agentId).walletRaw += change.posting.askedRaw;
      }
      const resolved =
        change.hold?.toRaw === null ? this.#byHold.get(change.hold.holdId) : undefined;
      const moves = change.companions.some(({ row }) => row === 'reservation.moved');
      if (resolved !== undefined && !moves) found.push(`${resolved.holdId} was resolved alone`);
      for (const companion of change.companions)
        found.push(...this.#heed(agentId, companion, change));
    }
    const { walletRaw, promisedRaw } = this.#walletOf(agentId);
    const { state } = this.#store.require(agentId);
    if (state.walletRaw !== walletRaw || state.promisedRaw !== promisedRaw) {
      const says = `${state.walletRaw}, ${state.promisedRaw} of it promised`;
      found.push(`agent ${agentId} has ${says}, and not ${walletRaw}, ${promisedRaw}`);
    }
    return found;
  }

  #walletOf(agentId: number): WalletBook {
    const known = this.#wallets.get(agentId);
    if (known !== undefined) return known;
    const sessionHold = { walletRaw: 0n, promisedRaw: 0n };
    this.#wallets.set(agentId, sessionHold);
    return sessionHold;
  }

  #heed(agentId: number, companion: Companion, change: Change): string[] {
    const sessionHold = this.#walletOf(agentId);
    switch (companion.row) {
      case 'reservation.opened': {
        const { reservation, holdId, valueRaw } = companion;
        const { nonce, validBefore } = reservation;
        const fixed = { agentId, holdId, valueRaw, validBefore };
        const payment: Payment = { ...fixed, state: 'reserved', isCorrected: false };
        this.payments.set(nonce, payment);
        this.live.add(nonce);
        this.#byHold.set(holdId, payment);
        sessionHold.promisedRaw += valueRaw;
        const isCovered = sessionHold.promisedRaw <= sessionHold.walletRaw;
        return isCovered ? [] : [`${holdId} promises ${valueRaw} that its wallet has not got`];
      }
      case 'reservation.moved':
        return this.#moved(companion, change);
      case 'payout.planned': {
        const { payout, amountRaw } = companion;
        this.#payouts.set(payout.nonce, { agentId, amountRaw, kind: payout.kind });
        sessionHold.promisedRaw += amountRaw;
        return sessionHold.promisedRaw <= sessionHold.walletRaw
          ? []
          : [`a payout of ${amountRaw} is not there`];
      }
      case 'payout.done': {
        const payout = this.#payouts.get(companion.nonce);
        this.#count(payout?.kind ?? 'unknown');
        this.#payouts.delete(companion.nonce);
        sessionHold.promisedRaw -= payout?.amountRaw ?? 0n;
        sessionHold.walletRaw -= payout?.amountRaw ?? 0n;
        return this.#isUsed(companion.nonce)
          ? []
          : ['a payout is done that the chain has not shown'];
      }
      default:
        return [];
    }
  }

  #moved({ move, corrected, decided }: Moved, change: Change): string[] {
    const { nonce, from, to } = move;
    const payment = this.payments.get(nonce);
    if (payment === undefined) return [`${nonce} moves and was never written`];
    const { agentId, holdId, valueRaw } = payment;
    const step = `${holdId}: ${payment.state} to ${to}`;
    const sessionHold = this.#walletOf(agentId);
    if (corrected) {
      const isLate = !isLive(from) && from !== 'settled' && to === from && !payment.isCorrected;
      payment.isCorrected = true;
      sessionHold.walletRaw -= valueRaw;
      this.#count('corrected');
      return isLate && this.#isUsed(nonce) ? [] : [`${step} is no late payment`];
    }
    const found: string[] = [];
    if (payment.state !== from || !STEPS[from].includes(to)) found.push(`${step}, from ${from}`);
    payment.state = to;
    if (decided === isLive(to)) found.push(`${step}, decided ${decided}`);
    if (isLive(to)) return [...found, ...(change.hold === null ? [] : [`${step} moved its hold`])];
    this.live.delete(nonce);
    this.#count(to);
    sessionHold.promisedRaw -= valueRaw;
    const takenRaw = to === 'settled' ? valueRaw : 0n;
    sessionHold.walletRaw -= takenRaw;
    const { hold, delta } = change;
    const isWhole = hold?.holdId === holdId && hold.fromRaw === valueRaw && hold.toRaw === null;
    if (!isWhole) found.push(`${step} and its hold stays`);
    if (delta.consumedRaw !== takenRaw) found.push(`${step} took ${delta.consumedRaw}`);
    return [...found, ...this.#unfounded(nonce, to).map((why) => `${step}, though ${why}`)];
  }

  #count(end: string): void {
    this.ends.set(end, (this.ends.get(end) ?? 0) + 1);
  }

  #isUsed(nonce: string): boolean {
    const deep = this.#chain.deep();
    return deep !== undefined && this.#chain.isUsedAt(nonce, deep);
  }

  /** What speaks against an end, by the chain and by who has the signature. */
  #unfounded(nonce: string, to: ReservationState): string[] {
    if (to === 'settled') return this.#isUsed(nonce) ? [] : ['the chain has not shown it'];
    const found: string[] = [];
    if (this.#chain.isUsed(nonce)) found.push('it was paid');
    if (to === 'released') {
      if (this.handed.has(nonce)) found.push('the vendor has the signature');
      return found;
    }
    const validBefore = this.payments.get(nonce)?.validBefore ?? 0;
    const timeSec = this.#chain.deep()?.timeSec ?? 0;
    if (timeSec < validBefore) found.push(`it may be paid until ${validBefore}, now ${timeSec}`);
    return found;
  }
}
