import { requireAgent } from '../accounts/agents/require-agent.ts';
import type { Random } from '../kernel/random.ts';
import { seal } from '../kernel/seal.ts';
import type { Queryable, Sql } from '../platform/postgres/sql.ts';
import { newWebhookSecret } from '../webhooks/delivery/sign-delivery.ts';
import { type Connection, hashOfToken, secretPlace, tokenOf } from './connection.ts';
import {
  deleteConnection,
  findConnections,
  insertConnection,
  lockConnection,
  replaceSecrets,
  setActive,
} from './connection-store.ts';
import { orchestratorErrors } from './errors.ts';
import { isProvider, PLATFORMS, PROVIDERS, type Provider } from './platform.ts';

export type Connections = ReturnType<typeof createConnections>;

type Deps = {
  readonly sql: Sql;
  readonly random: Random;
  /** Secret that seals the platforms' secrets and that tokens are derived with. Undefined: nothing can be connected. */
  readonly sealingSecret: string | undefined;
};

type Place = Pick<Connection, 'accountId' | 'id'>;

/** A connection with its token, and its secret when the secret is to be shown. */
export type Connected = {
  readonly connection: Connection;
  readonly token: string;
  readonly secret?: string | undefined;
};

const SALT_BYTES = 32;

/** Creates the management of an account's connections to voice platforms. */
export function createConnections({ sql, random, sealingSecret }: Deps) {
  const requireSecret = (): string => {
    if (sealingSecret === undefined) throw orchestratorErrors.unavailable();
    return sealingSecret;
  };
  const freshToken = () => {
    const tokenSalt = Buffer.from(random.bytes(SALT_BYTES));
    const token = tokenOf(requireSecret(), tokenSalt);
    return { token, tokenSalt, tokenHash: hashOfToken(token) };
  };
  const sealed = (place: Parameters<typeof secretPlace>[0], secret: string) =>
    seal(requireSecret(), secretPlace(place), Buffer.from(secret), random);

  return {
    /** Connects an agent to a platform. Only this result has the secret in plain text. */
    async connect(wanted: {
      readonly accountId: string;
      readonly agentId: number;
      readonly provider: string;
      readonly secret?: string | undefined;
      readonly label?: string | null | undefined;
    }): Promise<Connected> {
      requireSecret();
      const { accountId, agentId, label = null, provider } = wanted;
      if (!isProvider(provider)) throw orchestratorErrors.invalidProvider(PROVIDERS.join(', '));
      const secret = wanted.secret ?? ownSecret(provider, random);
      if (secret === undefined) throw orchestratorErrors.secretRequired(provider);
      await requireAgent(sql, { agentId, accountId });
      const place = { accountId, agentId, provider };
      const { token, ...stored } = freshToken();
      const fresh = { ...place, label, ...stored, sealedSecret: sealed(place, secret) };
      const connection = await sql.begin((tx) => insertConnection(tx, fresh));
      if (connection === 'taken') throw orchestratorErrors.alreadyConnected(provider);
      if (connection === 'full') throw orchestratorErrors.limitExceeded();
      return { connection, token, secret };
    },

    async list(accountId: string): Promise<Connected[]> {
      const secret = requireSecret();
      const found = await findConnections(sql, accountId);
      return found.map((connection) => ({
        connection,
        token: tokenOf(secret, connection.tokenSalt),
      }));
    },

    /** Replaces the token and the secret. The platform's own secret stays unless another is given. */
    async rotate(place: Place, secret: string | undefined): Promise<Connected> {
      requireSecret();
      const { token, ...stored } = freshToken();
      return sql.begin(async (tx: Queryable) => {
        const found = await lockConnection(tx, place);
        if (found === undefined) throw orchestratorErrors.notFound();
        const fresh = secret ?? ownSecret(found.provider, random);
        const sealedSecret = fresh === undefined ? undefined : sealed(found, fresh);
        const connection = await replaceSecrets(tx, found.id, { ...stored, sealedSecret });
        return { connection, token, secret: fresh };
      }) as Promise<Connected>;
    },

    /** Switches a connection on or off. While it is off, its URLs answer 404. */
    async toggle(place: Place, active: boolean): Promise<void> {
      if (!(await setActive(sql, place, active))) throw orchestratorErrors.notFound();
    },

    async remove(place: Place): Promise<void> {
      if (!(await deleteConnection(sql, place))) throw orchestratorErrors.notFound();
    },
  };
}

/** Returns a new secret for a platform that signs with ours. Undefined for a platform that brings its own. */
const ownSecret = (provider: Provider, random: Random): string | undefined =>
  PLATFORMS[provider].bringsSecret ? undefined : newWebhookSecret(random);
