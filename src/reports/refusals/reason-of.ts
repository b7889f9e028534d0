import type { ApiError } from '../../kernel/api-error.ts';
import type { Refusal, RefusalReason } from './refusal.ts';

/** Reason of each error code that is counted. Caps have codes of their own below. */
const REASONS: ReadonlyMap<string, RefusalReason> = new Map<string, RefusalReason>([
  ['insufficient_balance', 'insufficient_balance'],
  ['reserve_exceeded', 'reserve_exceeded'],
  ['host_not_allowlisted', 'host_not_allowlisted'],
  ['vendor_not_allowlisted', 'vendor_not_allowlisted'],
  ['blocked_destination', 'destination_blocked'],
  ['unresolvable_host', 'destination_blocked'],
  ['unresolvable_recipient', 'destination_blocked'],
  ['agent_suspended', 'agent_suspended'],
  ['account_closed', 'agent_closed'],
  ['agent_not_active', 'agent_not_active'],
  ['delegation_expired', 'delegation_expired'],
  ['credit_line_expired', 'delegation_expired'],
  ['rate_limit_exceeded', 'rate_limited'],
  ['rate_limited', 'rate_limited'],
  ['call_limit', 'telephony'],
  ['dial_limit', 'telephony'],
  ['telephony_suspended', 'telephony'],
  ['circuit_breaker_active', 'payments_paused'],
  ['circuit_breaker_stale', 'payments_paused'],
  ['all_sources_failed', 'provider_failed'],
  ['no_source_available', 'provider_unavailable'],
  ['engine_overloaded', 'provider_unavailable'],
  ['upstream_rate_limited', 'provider_failed'],
  ['upstream_declined', 'provider_failed'],
  ['Failed to reach target URL', 'vendor_failed'],
  ['upstream_response_too_large', 'vendor_failed'],
  ['Failed to parse PAYMENT-REQUIRED header', 'vendor_failed'],
  ['402 response missing PAYMENT-REQUIRED header', 'vendor_failed'],
  ['Payment was not accepted by resource server', 'vendor_failed'],
  ['upstream_paid_request_failed_ambiguous', 'payment_undecided'],
  ['upstream_payment_unsettled', 'payment_undecided'],
  ['vendor_unavailable', 'vendor_failed'],
  ['call_failed', 'carrier_failed'],
  ['provisioning_failed', 'carrier_failed'],
  ['telephony_unavailable', 'carrier_failed'],
]);

/** Codes by which the routes report a cap. The gateway has one code for caps and the balance. */
const CAPS: ReadonlySet<string> = new Set([
  'spend_limit_exceeded',
  'policy_exceeded',
  'budget_exhausted',
]);

/** Returns the facts of a refusal that is counted. Undefined for an error that is no refusal of spend and no failed call. */
export function factsOfRefusal({
  error,
  fields,
}: ApiError): Omit<Refusal, 'agentId' | 'requestId'> | undefined {
  const reason = CAPS.has(error) ? reasonOfCap(fields) : REASONS.get(error);
  if (reason === undefined) return undefined;
  return {
    reason,
    policyId: typeof fields.policyId === 'number' ? fields.policyId : null,
    host: typeof fields.host === 'string' ? fields.host : null,
    requiredRaw: rawOrNull(fields.required),
    availableRaw: rawOrNull(fields.available),
  };
}

function reasonOfCap({ kind, policyId, scope }: ApiError['fields']): RefusalReason {
  if (scope === 'wallet') return 'insufficient_balance';
  if (policyId === undefined) return 'session_limit';
  return kind === 'key' ? 'key_budget' : 'policy';
}

const rawOrNull = (value: unknown): bigint | null =>
  typeof value === 'string' && /^\d{1,18}$/.test(value) ? BigInt(value) : null;
