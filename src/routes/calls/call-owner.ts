import type { CallerOf } from '../../http/route/caller.ts';
import type { CallOwner } from '../../phone/calls/calls.ts';

/** The owner whose calls a caller may follow and command: an agent its own, a developer those of its agents. */
export const ownerOf = (caller: CallerOf['any']): CallOwner =>
  caller.kind === 'agent' ? { agentId: caller.agentId } : { accountId: caller.accountId };
