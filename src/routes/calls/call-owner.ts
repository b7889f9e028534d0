import type { CallerOf } from '../../http/route/caller.ts';
import type { CallOwner } from '../../phone/calls/calls.ts';

/**
 * Returns the owner whose calls a caller may follow and command: an agent its own calls, a developer the calls of its agents.
 */
export const ownerOf = (caller: CallerOf['any']): CallOwner =>
  caller.kind === 'agent' ? { agentId: caller.agentId } : { accountId: caller.accountId };
