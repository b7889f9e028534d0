import { EngineBusy, EngineMissing } from '../../engines/engine.ts';
import { parseAmountRaw } from '../../kernel/amount.ts';
import { ApiError } from '../../kernel/api-error.ts';
import { ClaimLost, PurchaseOpen } from './buy-once.ts';
import { ModelRefused } from './models.ts';

/** Consequence of a failed indexing for its item. */
export type IndexingFailure =
  /** The item did not cause the failure. It is tried again soon. */
  | { readonly kind: 'busy' }
  /** The failure counts as a failed attempt of the item. */
  | { readonly kind: 'fault' }
  /** A purchase was refused. The item waits, longer each time, or until its agent has enough balance. */
  | { readonly kind: 'refused'; readonly reason: string; readonly needsRaw: bigint | null }
  /** The item fails for good, because every later attempt would fail in the same way. */
  | { readonly kind: 'hopeless'; readonly reason: string };

/** HTTP statuses by which a provider refuses the request itself, so that another key or a later attempt does not help. */
const OF_THE_REQUEST = new Set([400, 413, 422]);
/** HTTP status that is returned when the agent key that brought the item was revoked or deleted. */
const KEY_GONE = 401;

export function indexingFailureOf(error: unknown): IndexingFailure {
  if (error instanceof EngineBusy || error instanceof EngineMissing) return { kind: 'busy' };
  if (error instanceof PurchaseOpen || error instanceof ClaimLost) return { kind: 'busy' };
  if (error instanceof ModelRefused) {
    if (OF_THE_REQUEST.has(error.status)) return { kind: 'fault' };
    return { kind: 'refused', reason: 'model_refused', needsRaw: null };
  }
  if (!(error instanceof ApiError)) return { kind: 'fault' };
  const { error: reason, fields, status } = error;
  if (status === KEY_GONE) return { kind: 'hopeless', reason: 'key_revoked' };
  const { required, scope } = fields;
  // A cap's refusal also states the required amount, but no balance lifts the cap.
  if (scope !== 'wallet') return { kind: 'refused', reason, needsRaw: null };
  const needsRaw = typeof required === 'string' ? (parseAmountRaw(required) ?? null) : null;
  return { kind: 'refused', reason: 'insufficient_balance', needsRaw };
}
