import { isLive, type ReservationState } from '../../../machines/reservation.ts';
import type { BalanceState, Companion } from '../../../src/ledger/rules/change.ts';
import type { NewReservation } from '../../../src/ledger/rules/payment.ts';
import type { Posting } from '../../../src/ledger/rules/posting.ts';

/** What a row of `reservations` says. */
export type PaymentRow = Omit<NewReservation, 'nonce'> & {
  readonly agentId: number;
  readonly holdId: string;
  readonly keyId: number | null;
  readonly taskId: string | null;
  readonly actionId: string | null;
  readonly customerId: string | null;
  readonly valueRaw: bigint;
  readonly state: ReservationState;
  readonly refused: boolean;
  readonly txHash: string | null;
  readonly responseStatusCode: number | null;
  readonly latencyMs: number | null;
  /** Whether the instants of these are written. */
  readonly sent: boolean;
  readonly decided: boolean;
  readonly corrected: boolean;
};

/** What a row of `payouts` says. */
export type PayoutRow = {
  readonly agentId: number;
  readonly kind: 'close' | 'sweep' | 'transfer';
  readonly wallet: string;
  readonly payee: string;
  readonly amountRaw: bigint;
  readonly state: 'planned' | 'submitted' | 'done';
  readonly txHash: string | null;
};

/** Payments to vendors and out of wallets, by their nonces. */
export type PaymentRows = {
  readonly reservations: Map<string, PaymentRow>;
  readonly payouts: Map<string, PayoutRow>;
};

/** What a companion row does to them. */
export function writePayment({ reservations, payouts }: PaymentRows, companion: Companion): void {
  switch (companion.row) {
    case 'reservation.opened': {
      const { nonce, ...signed } = companion.reservation;
      if (reservations.has(nonce)) throw new Error(`${nonce} was written twice`);
      reservations.set(nonce, { ...signed, ...rowOf(companion) });
      return;
    }
    case 'reservation.moved': {
      const { move, decided, corrected } = companion;
      const row = reservations.get(move.nonce);
      if (row === undefined) return;
      reservations.set(move.nonce, {
        ...row,
        state: move.to,
        refused: row.refused || move.learnt?.refused === true,
        txHash: move.learnt?.txHash ?? row.txHash,
        responseStatusCode: move.learnt?.responseStatusCode ?? row.responseStatusCode,
        latencyMs: move.learnt?.latencyMs ?? row.latencyMs,
        sent: row.sent || move.to === 'sent' || move.to === 'pending_settlement',
        decided: row.decided || decided,
        corrected: row.corrected || corrected,
      });
      return;
    }
    case 'payout.planned': {
      const { agentId, amountRaw, payout } = companion;
      const { nonce, ...known } = payout;
      if (payouts.has(nonce)) throw new Error(`${nonce} was planned twice`);
      payouts.set(nonce, { agentId, amountRaw, ...known, state: 'planned', txHash: null });
      return;
    }
    case 'payout.done': {
      const row = payouts.get(companion.nonce);
      if (row !== undefined) {
        payouts.set(companion.nonce, { ...row, state: 'done', txHash: companion.txHash });
      }
      return;
    }
    default:
      return;
  }
}

function rowOf({ holdId, spender, valueRaw }: Extract<Companion, { row: 'reservation.opened' }>) {
  return {
    agentId: spender.agentId,
    holdId,
    valueRaw,
    state: 'reserved' as const,
    keyId: spender.keyId ?? null,
    taskId: spender.taskId ?? null,
    actionId: spender.actionId ?? null,
    customerId: spender.customerId ?? null,
    refused: false,
    txHash: null,
    responseStatusCode: null,
    latencyMs: null,
    sent: false,
    decided: false,
    corrected: false,
  };
}

type Book = PaymentRows & {
  readonly balances: ReadonlyMap<number, { readonly state: BalanceState }>;
  readonly postings: ReadonlyMap<string, { readonly agentId: number; readonly posting: Posting }>;
  readonly holds: ReadonlyMap<string, { readonly agentId: number; readonly amountRaw: bigint }>;
};

/** Invariant 8, as sentences about what is wrong. */
export function paymentViolations(book: Book): string[] {
  const found: string[] = [];
  const promised = new Map<number, bigint>();
  const wallets = new Map<number, bigint>();
  const add = (to: Map<number, bigint>, agentId: number, raw: bigint) =>
    to.set(agentId, (to.get(agentId) ?? 0n) + raw);
  for (const { agentId, posting } of book.postings.values()) {
    if (posting.code === 'funding.deposit') add(wallets, agentId, posting.askedRaw);
  }
  for (const row of book.reservations.values()) {
    const { agentId, valueRaw, state, holdId } = row;
    const open = book.holds.get(holdId);
    if (isLive(state)) {
      add(promised, agentId, valueRaw);
      if (open?.agentId !== agentId || open.amountRaw !== valueRaw) {
        found.push(`${holdId} is undecided, and its hold is not open at ${valueRaw}`);
      }
    } else if (open !== undefined) found.push(`${holdId} is ${state}, yet its hold is open`);
    if (state === 'settled') add(wallets, agentId, -valueRaw);
    if (row.corrected) add(wallets, agentId, -valueRaw);
    if (row.decided === isLive(state)) found.push(`${holdId} is ${state}, decided ${row.decided}`);
  }
  for (const { agentId, amountRaw, state } of book.payouts.values()) {
    if (state === 'done') add(wallets, agentId, -amountRaw);
    else add(promised, agentId, amountRaw);
  }
  for (const [agentId, { state }] of book.balances) {
    const [promisedRaw, walletRaw] = [promised.get(agentId) ?? 0n, wallets.get(agentId) ?? 0n];
    if (state.promisedRaw !== promisedRaw) {
      found.push(`${agentId}: promised ${state.promisedRaw}, undecided ${promisedRaw}`);
    }
    if (state.walletRaw !== walletRaw) {
      found.push(`${agentId}: wallet ${state.walletRaw}, came and went ${walletRaw}`);
    }
  }
  return found;
}
