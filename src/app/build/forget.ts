import type { Notice } from '../../accounts/keys/invalidation.ts';
import type { HttpServer } from '../../http/server/app.ts';
import type { Ledger } from '../../ledger/rules/ledger.ts';
import type { AccountParts } from './build-accounts.ts';
import type { buildPhone } from './build-phone.ts';

/** Drops the caches, closes the sockets and ends the calls of a key or an agent that was revoked or stopped. */
export function forget(
  notice: Notice,
  {
    credentials,
    http,
    ledger,
    phone,
  }: {
    readonly credentials: AccountParts['credentials'];
    readonly http: HttpServer;
    readonly ledger: Ledger;
    readonly phone: Pick<ReturnType<typeof buildPhone>, 'endStoppedCalls'>;
  },
): void {
  credentials.forget(notice);
  switch (notice.kind) {
    case 'everything':
      // Nothing for the ledger: a decision on rules that have changed misses its fence. A socket whose
      // key was revoked meanwhile is refused at its next hold; a call may have no such hold.
      phone.endStoppedCalls();
      break;
    case 'agent_key_revoked':
      ledger.invalidate(notice.agentId);
      http.closeAgentSockets(notice.agentId, notice.keyId);
      phone.endStoppedCalls();
      break;
    case 'agent_stopped':
      ledger.invalidate(notice.agentId);
      http.closeAgentSockets(notice.agentId);
      phone.endStoppedCalls();
      break;
    case 'agent_changed':
      ledger.invalidate(notice.agentId);
      break;
    case 'developer_key_revoked':
      break;
  }
}
