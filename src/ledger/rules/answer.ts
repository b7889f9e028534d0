import { assert } from '../../kernel/assert.ts';
import type {
  CreditVerdict,
  ExtendVerdict,
  HoldVerdict,
  OpenSessionVerdict,
  SettleVerdict,
  TransferVerdict,
  WithdrawVerdict,
} from './ledger.ts';
import { factsOf } from './operation.ts';
import type { Funds, HoldRefusal, HoldRequest, OpenSession, SessionClaim } from './requests.ts';
import type { Snapshot } from './spend-state.ts';

/** Outcome of an operation, after the database has answered. */
export type Resolution =
  | {
      readonly kind: 'applied' | 'already';
      readonly leftRaw: bigint;
      readonly funds: Funds;
      /** State of the agent after the operation, with its rules. Absent when it is not known. */
      readonly after?: Snapshot | undefined;
    }
  | { readonly kind: 'refused'; readonly refusal: HoldRefusal }
  /** Another posting has this id. */
  | { readonly kind: 'conflict' }
  /** Another process has taken the session over, or the session's hold is resolved. */
  | { readonly kind: 'lost' }
  | { readonly kind: 'agent_unknown' };

const done = (
  resolution: Resolution,
): resolution is Extract<Resolution, { kind: 'applied' | 'already' }> =>
  resolution.kind === 'applied' || resolution.kind === 'already';

export function holdVerdict(request: HoldRequest, resolution: Resolution): HoldVerdict {
  if (resolution.kind === 'refused') return resolution;
  if (resolution.kind === 'agent_unknown') {
    return { kind: 'refused', refusal: { reason: 'agent_unknown' } };
  }
  const { holdId, amountRaw, spender, destination } = request;
  // A reused hold id is a bug of the caller.
  assert(done(resolution), `hold ${holdId} was used before for something else`);
  const facts = factsOf({ spender, destination });
  const lender = spender.reserve;
  const hold = {
    holdId,
    agentId: spender.agentId,
    amountRaw,
    facts,
    ...(lender !== undefined && { lender }),
  };
  return { kind: 'held', hold, funds: resolution.funds, after: resolution.after };
}

export function openVerdict(request: OpenSession, resolution: Resolution): OpenSessionVerdict {
  const { sessionId, spender, destination, reserveRaw: amountRaw } = request;
  const asked = { spender, destination, holdId: sessionId, amountRaw };
  const verdict = holdVerdict(asked, resolution);
  if (verdict.kind === 'refused') return verdict;
  const { hold, funds } = verdict;
  const { keyId, taskValueBps } = spender;
  const claim = {
    sessionId,
    epoch: 1,
    hold,
    ...(keyId !== undefined && { keyId }),
    ...(taskValueBps !== undefined && { taskValueBps }),
  };
  return { kind: 'opened', claim, funds };
}

export function extendVerdict(
  claim: SessionClaim,
  byRaw: bigint,
  resolution: Resolution,
): ExtendVerdict {
  if (resolution.kind === 'refused') return resolution;
  if (!done(resolution)) return { kind: 'lost' };
  const hold = { ...claim.hold, amountRaw: claim.hold.amountRaw + byRaw };
  return { kind: 'extended', claim: { ...claim, hold } };
}

export function shrinkVerdict(
  claim: SessionClaim,
  byRaw: bigint,
  resolution: Resolution,
): SessionClaim | undefined {
  if (!done(resolution)) return undefined;
  const hold = { ...claim.hold, amountRaw: claim.hold.amountRaw - byRaw };
  return { ...claim, hold, shrinks: (claim.shrinks ?? 0) + 1 };
}

export function settleVerdict(resolution: Resolution): SettleVerdict {
  if (!done(resolution)) return { kind: 'already_resolved' };
  const { leftRaw: chargedRaw, funds, after } = resolution;
  return { kind: 'settled', chargedRaw, funds, after };
}

export function creditVerdict(resolution: Resolution): CreditVerdict {
  switch (resolution.kind) {
    case 'applied':
      return { kind: 'credited', funds: resolution.funds };
    case 'already':
      return { kind: 'already_credited', funds: resolution.funds };
    case 'agent_unknown':
      return { kind: 'agent_unknown' };
    case 'refused':
      return { kind: 'too_large' };
    default:
      return { kind: 'conflict' };
  }
}

export function transferVerdict(resolution: Resolution): TransferVerdict {
  if (resolution.kind === 'refused') {
    const { refusal } = resolution;
    assert(refusal.reason === 'insufficient_balance', 'a transfer is refused for its amount alone');
    return { kind: 'insufficient', availableRaw: refusal.availableRaw };
  }
  assert(done(resolution), `a transfer came to "${resolution.kind}"`);
  return { kind: 'withdrawn', isRepeat: resolution.kind === 'already' };
}

export function withdrawVerdict(resolution: Resolution): WithdrawVerdict {
  assert(done(resolution), `a withdrawal came to "${resolution.kind}"`);
  const { leftRaw: withdrawnRaw, funds, kind } = resolution;
  return { withdrawnRaw, isRepeat: kind === 'already', funds };
}
