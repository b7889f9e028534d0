import { createHash, createHmac } from 'node:crypto';
import type { Provider } from './platform.ts';

/** Connection of an agent to a voice platform, without its secrets. */
export type Connection = {
  readonly id: number;
  readonly accountId: string;
  readonly agentId: number;
  readonly provider: Provider;
  readonly agentWallet: string | null;
  readonly label: string | null;
  readonly active: boolean;
  /** Random bytes that the token is derived from. */
  readonly tokenSalt: Buffer;
  readonly lastEventAt: Date | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

export type AgentStatus = 'pending_delegation' | 'active' | 'suspended' | 'closed';

/** Connection that a request has named by its token, with what its request is judged by. */
export type InboundConnection = Pick<
  Connection,
  'id' | 'accountId' | 'agentId' | 'provider' | 'agentWallet'
> & {
  readonly agentStatus: AgentStatus;
  readonly sealedSecret: Uint8Array;
};

/** Context that a secret is sealed with: it opens for no other account, agent or platform. */
export const secretPlace = ({
  accountId,
  agentId,
  provider,
}: Pick<Connection, 'accountId' | 'agentId' | 'provider'>): string =>
  JSON.stringify(['voice platform', accountId, agentId, provider]);

/** Derives the token of a connection. Without this server's secret neither the salt nor the stored hash tells it. */
export const tokenOf = (serverSecret: string, salt: Uint8Array): string =>
  createHmac('sha256', serverSecret)
    .update('token of a voice platform\n')
    .update(salt)
    .digest('base64url');

/** Returns the form in which a token is stored and found. */
export const hashOfToken = (token: string): Buffer => createHash('sha256').update(token).digest();

/** Returns a connection as its developer sees it. Its URLs have the token, which is not stored. */
export function connectionRecord(connection: Connection, token: string, origin: string) {
  const base = `${origin}/v1/webhooks/${connection.provider}`;
  return {
    id: connection.id,
    provider: connection.provider,
    agentWallet: connection.agentWallet,
    label: connection.label,
    active: connection.active,
    lastEventAt: connection.lastEventAt?.toISOString() ?? null,
    webhookUrl: `${base}/call-end/${token}`,
    preCallUrl: `${base}/pre-call/${token}`,
    createdAt: connection.createdAt.toISOString(),
    updatedAt: connection.updatedAt.toISOString(),
  };
}
