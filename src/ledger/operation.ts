import type { SpendFacts } from '../policy/policy.ts';
import type { EventRow } from './companion.ts';
import type {
  Destination,
  Hold,
  JournalEntry,
  OpenSession,
  SessionClaim,
  SettleRequest,
  Spender,
} from './ledger.ts';

export type HoldOperation = {
  readonly kind: 'hold';
  readonly agentId: number;
  readonly spender: Spender;
  readonly holdId: string;
  readonly amountRaw: bigint;
  readonly destination: Destination;
  /** Opens the session in the same commit; its hold has the session's id. */
  readonly session: OpenSession | null;
};

export type ExtendOperation = {
  readonly kind: 'extend';
  readonly agentId: number;
  readonly claim: SessionClaim;
  readonly byRaw: bigint;
};

export type SettleOperation = {
  readonly kind: 'settle';
  readonly agentId: number;
  readonly hold: Hold;
  readonly request: Omit<SettleRequest, 'hold'>;
  /** Ends the session in the same commit, unless somebody else has taken it over. */
  readonly ends: { readonly claim: SessionClaim; readonly reason: string } | null;
};

export type CreditOperation = {
  readonly kind: 'credit';
  readonly agentId: number;
  readonly amountRaw: bigint;
  readonly reference: string;
  readonly events: readonly EventRow[];
};

export type WithdrawOperation = {
  readonly kind: 'withdraw';
  readonly agentId: number;
  readonly reference: string;
};

export type JournalOperation = {
  readonly kind: 'journal';
  readonly agentId: number;
  readonly claim: SessionClaim;
  readonly entries: readonly JournalEntry[];
};

/** A cap that stops its agent was crossed: nobody spends from it until its owner resumes it. */
export type SuspendOperation = {
  readonly kind: 'suspend';
  readonly agentId: number;
  readonly policyId: number;
};

/** Everything that can be asked of one agent's balance. There is no second way to move its money. */
export type Operation =
  | HoldOperation
  | ExtendOperation
  | SettleOperation
  | CreditOperation
  | WithdrawOperation
  | SuspendOperation
  | JournalOperation;

/**
 * Two operations with the same key never ride in one part: the second is decided on what became of
 * the first. Undefined: rides with anything.
 */
export function exclusiveKey(operation: Operation): string | undefined {
  switch (operation.kind) {
    case 'hold':
      return operation.holdId;
    case 'extend':
      return operation.claim.hold.holdId;
    case 'settle':
      return operation.hold.holdId;
    case 'credit':
      return `credit:${operation.reference}`;
    case 'withdraw':
      return `withdraw:${operation.reference}`;
    case 'suspend':
      return 'suspend';
    case 'journal':
      return undefined;
  }
}

/** What spend controls are told of whoever wants money set aside. Fixed for the hold's whole life. */
export const factsOf = (operation: Pick<HoldOperation, 'spender' | 'destination'>): SpendFacts => ({
  keyRootId: operation.spender.keyRootId ?? operation.spender.keyId ?? null,
  taskId: operation.spender.taskId ?? null,
  host: operation.destination.host,
  payee: operation.destination.payee,
});
