import { breachFields, breachSentence } from '../controls/breach-fields.ts';
import type { ApiError } from '../kernel/api-error.ts';
import { refuse } from '../kernel/refuse.ts';
import type { HoldRefusal } from '../ledger/ledger.ts';

/** Why a hold was refused, in the words of the gateway's routes. */
export function refuseHold(refusal: HoldRefusal): ApiError {
  switch (refusal.reason) {
    case 'insufficient_balance':
      return refuse.gateway.budgetExhausted({
        available: refusal.availableRaw.toString(),
        required: refusal.requiredRaw.toString(),
      });
    case 'cap_exceeded':
      return refuse.gateway.capExceeded(breachSentence(refusal.breach), breachFields(refusal));
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
