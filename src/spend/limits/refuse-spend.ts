import { credentialErrors } from '../../accounts/errors.ts';
import type { ApiError } from '../../kernel/api-error.ts';
import { assert } from '../../kernel/assert.ts';
import type { HoldRefusal } from '../../ledger/rules/requests.ts';
import { controlErrors } from '../errors.ts';
import { breachFields, breachSentence, isSessionLimit } from './breach-fields.ts';

/** Returns the error for a hold that was refused, for routes that report each spend control with a code of its own. */
export function refuseSpend(refusal: HoldRefusal): ApiError {
  switch (refusal.reason) {
    case 'insufficient_balance':
      return controlErrors.insufficientBalance(
        refusal.availableRaw.toString(),
        refusal.requiredRaw.toString(),
      );
    case 'reserve_exceeded':
      return controlErrors.reserveExceeded(
        refusal.availableRaw.toString(),
        refusal.requiredRaw.toString(),
      );
    case 'cap_exceeded': {
      const { spendLimitExceeded, policyExceeded } = controlErrors;
      const say = isSessionLimit(refusal.breach) ? spendLimitExceeded : policyExceeded;
      return say(breachSentence(refusal.breach), breachFields(refusal));
    }
    case 'host_not_allowlisted':
      return controlErrors.hostNotAllowlisted(refusal.host);
    case 'vendor_not_allowlisted':
      return controlErrors.vendorNotAllowlisted(refusal.recipient, refusal.host);
    case 'agent_suspended':
      return credentialErrors.agentSuspended();
    case 'agent_closed':
      return credentialErrors.accountClosed();
    case 'agent_not_active':
      return credentialErrors.agentNotReady();
    case 'delegation_expired':
      return credentialErrors.delegationExpired();
    case 'agent_unknown':
    case 'key_revoked':
      return credentialErrors.invalidKey();
    case 'balance_full':
      assert(false, 'only a credit fills a balance');
  }
}
