import { minRaw } from '../../kernel/amount.ts';
import { extendVerdict, type Resolution, shrinkVerdict } from '../rules/answer.ts';
import type { HoldOperation, Operation } from '../rules/operation.ts';
import type { HoldRefusal, Reserve, SettleRequest } from '../rules/requests.ts';
import type { LedgerInbox } from './ledger-inbox.ts';

type Pairs = Pick<LedgerInbox, 'submit' | 'submitPair'>;

/**
 * Holds a purchase from a reserve: the call's hold shrinks in the commit that writes the purchase's hold. When the reserve, the
 * balance or a control refuses, neither hold changes.
 */
export const lendFrom = (inbox: Pairs, reserve: Reserve, holding: HoldOperation) =>
  reserve.use<Resolution>(async (claim, lendableRaw) => {
    const { agentId, amountRaw: byRaw, holdId: forHoldId } = holding;
    if (claim === undefined || lendableRaw < byRaw) {
      const availableRaw = claim === undefined || lendableRaw < 0n ? 0n : lendableRaw;
      return { result: refusedFor(availableRaw, byRaw), claim: undefined };
    }
    const lending = { kind: 'shrink', agentId, claim, byRaw, forHoldId, isLoan: true } as const;
    const [shrunk, held] = await inbox.submitPair(lending, holding);
    if (held.kind === 'lost') return { result: refusedFor(0n, byRaw), claim: 'lost' };
    return { result: held, claim: shrinkVerdict(claim, byRaw, shrunk) };
  });

function refusedFor(availableRaw: bigint, requiredRaw: bigint): Resolution {
  const refusal: HoldRefusal = { reason: 'reserve_exceeded', availableRaw, requiredRaw };
  return { kind: 'refused', refusal };
}

/** Settles a hold that a reserve lent. Its remainder returns to the reserve in the same commit, unless a control forbids it. */
export const giveBackTo = (
  inbox: Pairs,
  reserve: Reserve,
  request: SettleRequest,
  settling: Extract<Operation, { kind: 'settle' }>,
) =>
  reserve.use<Resolution>(async (claim) => {
    const { agentId, holdId: lentHoldId } = request.hold;
    const byRaw = leftOf(request);
    if (claim === undefined || byRaw === 0n) {
      return { result: await inbox.submit(settling), claim: undefined };
    }
    const growing = { kind: 'extend', agentId, claim, byRaw, lentHoldId } as const;
    const [settled, grown] = await inbox.submitPair(settling, growing);
    const verdict = extendVerdict(claim, byRaw, grown);
    return { result: settled, claim: verdict.kind === 'extended' ? verdict.claim : undefined };
  });

const leftOf = ({ actualRaw, billableRaw = actualRaw, hold }: SettleRequest): bigint =>
  hold.amountRaw - minRaw(minRaw(actualRaw, billableRaw), hold.amountRaw);
