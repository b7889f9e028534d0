import { isLive } from '../../../machines/reservation.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { AuthorizationLog, UsedAuthorization } from '../../platform/chain/usdc.ts';
import type { OpenPayout } from '../payouts/payout.ts';
import type { Applied } from '../reconcile/applied.ts';
import type { DepositDeps } from '../reconcile/deposits.ts';
import { inGroups } from '../reconcile/in-groups.ts';
import { applyVerdict, type VerdictDeps } from './apply-verdict.ts';
import { correctReleased } from './correct-released.ts';
import type { Reservation } from './reservation.ts';

export type ApplyDeps = VerdictDeps &
  DepositDeps & {
    readonly ledger: Pick<Ledger, 'advance' | 'settle' | 'correct' | 'credit' | 'paid'>;
    readonly findByNonce: (nonce: string) => Promise<Reservation | undefined>;
    /** Returns a payout, also a payout that the chain has shown or that the bounded reading left out. */
    readonly findPayout: (
      nonce: string,
    ) => Promise<(OpenPayout & { readonly isDone: boolean }) | undefined>;
    readonly wasGivenBack: (nonce: string) => Promise<boolean>;
  };

/** Reservations and payouts that were read before, by nonce; they need no further query. */
export type Known = {
  readonly rows: ReadonlyMap<string, Reservation>;
  readonly payouts: ReadonlyMap<string, OpenPayout>;
};

export const NOTHING_KNOWN: Known = { rows: new Map(), payouts: new Map() };

export type Outflow = {
  readonly used: readonly UsedAuthorization[];
  readonly canceled: readonly AuthorizationLog[];
};

type How = {
  /** True when the ledger may have reversed settled payments: each settled payment is then looked up. */
  readonly isDoubted?: boolean;
  /**
   * Logs an unknown authorization and raises an alarm. Off when blocks are read a second time, since the first reading did
   * both.
   */
  readonly logsOdd?: boolean;
};

/**
 * Settles payments that have left wallets, and releases canceled payments. May be repeated: each payment ends once. Each result
 * is added to `applied` when it is done, also when this rejects later.
 */
export async function applyOutflow(
  deps: ApplyDeps,
  { used, canceled }: Outflow,
  known: Known,
  applied: Applied[],
  how: How = {},
): Promise<void> {
  const settled = new Set<string>();
  const note = (kind: Applied['kind'], agentId: number, { nonce, blockNumber }: AuthorizationLog) =>
    void applied.push({ kind, agentId, nonce, blockNumber });
  await inGroups(deps, used, async (event) => {
    const payout = known.payouts.get(event.nonce);
    if (payout !== undefined) {
      if (await settlePayout(deps, payout, event, how)) note('paid', payout.agentId, event);
      return;
    }
    const row = known.rows.get(event.nonce) ?? (await deps.findByNonce(event.nonce));
    if (row === undefined) {
      const paidTo = await settleLatePayout(deps, event, how);
      if (paidTo !== undefined) note('paid', paidTo, event);
      return;
    }
    const kind = await settlePayment(deps, row, event, how);
    if (kind === 'settled') settled.add(row.nonce);
    if (kind !== undefined) note(kind, row.agentId, event);
  });
  await inGroups(deps, canceled, async (event) => {
    const row = known.rows.get(event.nonce);
    if (row === undefined || row.wallet !== event.authorizer || settled.has(row.nonce)) return;
    await applyVerdict(deps, row, { kind: 'void' });
    note('voided', row.agentId, event);
  });
}

/** Returns true when the transfer has the signed wallet, payee and amount. */
const isOurs = (
  row: { readonly wallet: string; readonly payee: string; readonly valueRaw: bigint },
  { authorizer, transfer }: UsedAuthorization,
): boolean =>
  row.wallet === authorizer && transfer?.to === row.payee && transfer.valueRaw === row.valueRaw;

/** Settles a payment by its log. Undefined when the books have the payment already, or when another transfer was signed. */
async function settlePayment(
  deps: ApplyDeps,
  row: Reservation,
  event: UsedAuthorization,
  how: How,
): Promise<'settled' | 'corrected' | undefined> {
  const { txHash } = event;
  if (!isOurs(row, event)) {
    logOdd(deps, event, how);
    return undefined;
  }
  if (isLive(row.state)) {
    await applyVerdict(deps, row, { kind: 'used', txHash });
    return 'settled';
  }
  if (row.isCorrected) return undefined;
  if (row.state === 'settled') {
    if (!how.isDoubted || !(await deps.wasGivenBack(row.nonce))) return undefined;
  }
  await correctReleased(deps, row, txHash);
  return 'corrected';
}

async function settlePayout(
  deps: ApplyDeps,
  payout: OpenPayout,
  event: UsedAuthorization,
  how: How,
): Promise<boolean> {
  const { nonce, agentId, amountRaw } = payout;
  if (!isOurs({ ...payout, valueRaw: amountRaw }, event)) {
    logOdd(deps, event, how);
    return false;
  }
  await deps.ledger.paid({ agentId, nonce, amountRaw, txHash: event.txHash });
  return true;
}

async function settleLatePayout(
  deps: ApplyDeps,
  event: UsedAuthorization,
  how: How,
): Promise<number | undefined> {
  const payout = await deps.findPayout(event.nonce);
  if (payout === undefined) logOdd(deps, event, how);
  if (payout === undefined || payout.isDone) return undefined;
  return (await settlePayout(deps, payout, event, how)) ? payout.agentId : undefined;
}

function logOdd({ log, onAlarm }: ApplyDeps, event: UsedAuthorization, { logsOdd }: How): void {
  if (!logsOdd) return;
  const { authorizer: wallet, nonce, txHash } = event;
  log.error({ wallet, nonce, txHash }, 'USDC left a wallet by an unknown authorization');
  onAlarm?.('unknown_authorization');
}
