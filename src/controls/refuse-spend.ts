import type { ApiError } from '../kernel/api-error.ts';
import { refuse } from '../kernel/refuse.ts';
import type { HoldRefusal } from '../ledger/ledger.ts';
import { breachFields, breachSentence, isSessionLimit } from './breach-fields.ts';

/** Why money was not set aside, in the words of routes that spell each control by itself. */
export function refuseSpend(refusal: HoldRefusal): ApiError {
  switch (refusal.reason) {
    case 'insufficient_balance':
      return refuse.controls.insufficientBalance(
        refusal.availableRaw.toString(),
        refusal.requiredRaw.toString(),
      );
    case 'cap_exceeded': {
      const { spendLimitExceeded, policyExceeded } = refuse.controls;
      const say = isSessionLimit(refusal.breach) ? spendLimitExceeded : policyExceeded;
      return say(breachSentence(refusal.breach), breachFields(refusal));
    }
    case 'host_not_allowlisted':
      return refuse.controls.hostNotAllowlisted(refusal.host);
    case 'vendor_not_allowlisted':
      return refuse.controls.vendorNotAllowlisted(refusal.recipient, refusal.host);
    case 'agent_suspended':
      return refuse.credential.agentSuspended();
    case 'agent_closed':
      return refuse.credential.accountClosed();
    case 'agent_not_active':
      return refuse.credential.agentNotReady();
    case 'delegation_expired':
      return refuse.credential.delegationExpired();
    case 'agent_unknown':
    case 'key_revoked':
      return refuse.credential.invalidKey();
  }
}
