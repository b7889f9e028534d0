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
      // The ledger needs no call: a decision on outdated rules fails at its fence. A socket with a revoked key is refused at
      // its next hold, but a call may have no further hold.
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
