import type { Fields } from '../kernel/api-error.ts';
import { NO_RETRY, refusal } from '../kernel/refusal.ts';
import { SPEND_LIMITS } from './limits.ts';

/** Refusals by spend controls, and refusals of requests that change spend controls. */
export const controlErrors = {
  spendLimitExceeded: (message: string, fields: Fields) =>
    refusal(402, 'spend_limit_exceeded', message, fields),
  policyExceeded: (message: string, fields: Fields) =>
    refusal(402, 'policy_exceeded', message, fields),
  unresolvableHost: (host: string) =>
    refusal(403, 'unresolvable_host', `"${host}" is no host that a call could go to.`, { host }),
  unresolvableRecipient: (host: string) =>
    refusal(
      403,
      'unresolvable_recipient',
      'Only payments to known wallets are allowed, and it is not said which wallet this one goes to.',
      { recipient: null, host },
    ),
  noCreditLimit: () =>
    refusal(404, 'no_credit_limit', 'Nothing was provisioned for this agent yet.'),
  thresholdNotFound: () => refusal(404, 'not_found', 'There is no such credit threshold.'),
  insufficientBalance: (available: string, required: string) =>
    refusal(402, 'insufficient_balance', 'The balance does not cover this.', {
      available,
      required,
    }),
  reserveExceeded: (available: string, required: string) =>
    refusal(
      402,
      'reserve_exceeded',
      `The purchase needs ${required}; the reserve of the call and the limit of the tool leave ${available}. Buy less, or nothing.`,
      { available, required },
    ),
  hostNotAllowlisted: (host: string) =>
    refusal(
      403,
      'host_not_allowlisted',
      `No policy of this agent or its team allows the host "${host}".`,
      { host },
    ),
  vendorNotAllowlisted: (recipient: string, host: string | null) =>
    refusal(
      403,
      'vendor_not_allowlisted',
      `No policy of this agent or its team allows payments to ${recipient}.`,
      { recipient, host },
    ),
  duplicatePolicy: (policyId: number) =>
    refusal(
      409,
      'duplicate_active_policy',
      `Policy ${policyId} caps the same thing already; change it or revoke it first.`,
      { policyId },
      NO_RETRY,
    ),
  notResettable: () =>
    refusal(
      400,
      'invalid_window_kind',
      'Only a rolling policy can be reset; others begin anew by themselves or never.',
    ),
  selfServiceLocked: () =>
    refusal(
      403,
      'self_service_locked',
      'The developer has locked the controls of this agent: its own key may only tighten them.',
      {
        next: {
          hint: 'Ask the developer to change it, or to unlock self-service',
          method: 'PUT',
          path: '/v1/developer/agents/{agentId}/self-service-lock',
        },
      },
    ),
  policyNotFound: () => refusal(404, 'not_found', 'There is no such policy.'),
  budgetNotFound: () => refusal(404, 'not_found', 'This key has no budget.'),
  invalidBudget: (max: string) =>
    refusal(400, 'invalid_budget', `budgetRaw must be raw USDC from 1 to ${max}, in digits.`),
  taskAlreadyHeld: (policyId: number) =>
    refusal(
      409,
      'task_already_held',
      'Money is set aside for this task already.',
      { policyId },
      NO_RETRY,
    ),
};

export const attributionErrors = {
  invalidActionId: () =>
    refusal(
      400,
      'invalid_action_id',
      `An action id has 1 to ${SPEND_LIMITS.tag.idChars} printable ASCII characters.`,
    ),
  tooManyEvents: (max: number) =>
    refusal(413, 'payload_too_large', `An upload may have at most ${max} events.`, {
      limit_events: max,
    }),
};
