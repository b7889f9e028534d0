import { addPolicy, type PolicyWish } from './policies.ts';
import {
  type Ask,
  ask,
  type Developer,
  newDeveloper,
  startWorld,
  type Told,
  type WholeWorld,
} from './whole-world.ts';

export type AwareAgent = {
  readonly agentId: number;
  readonly keyId: number;
  readonly key: string;
};

export type AwareWorld = AsyncDisposable & {
  readonly world: WholeWorld;
  readonly developer: Developer;
  to(path: string, options?: Ask): Promise<Told>;
  /** An agent of the developer's with a key and this balance; closed again, since few may be open at once. */
  agentWith(amountRaw: bigint): Promise<AwareAgent & AsyncDisposable>;
  accountOf(agentId: number): Promise<string>;
  /** Gives an agent a policy of its own. */
  policy(agentId: number, wanted: Omit<PolicyWish, 'accountId' | 'agentId'>): Promise<number>;
  asAgent(agent: AwareAgent, path: string): Promise<Told>;
};

export const bearer = (key: string) => ({ authorization: `Bearer ${key}` });

/** The whole server with a developer whose agents come and go. */
export async function startAwareWorld(
  environment: Record<string, string> = {},
): Promise<AwareWorld> {
  const world = await startWorld(environment);
  const developer = await newDeveloper(world.api, 'aware');
  const to = (path: string, options: Ask = {}) => ask(world.url + path, options);
  let names = 0;

  async function accountOf(agentId: number): Promise<string> {
    const [row] = await world.sql<{ account: string }[]>`
      select account_id as account from agents where id = ${agentId}`;
    return row?.account ?? '';
  }

  async function agentWith(amountRaw: bigint): Promise<AwareAgent & AsyncDisposable> {
    const agentId = await developer.createAgent(`agent ${++names}`);
    const minted = await developer.mintKey(agentId);
    if (amountRaw > 0n) {
      await to(`/v1/admin/agents/${agentId}/credit`, {
        headers: { 'x-admin-key': world.adminApiKey },
        body: { amountRaw: `${amountRaw}`, reference: `start-${agentId}` },
      });
    }
    const close = `/v1/developer/agents/${agentId}/close`;
    return {
      agentId,
      ...minted,
      async [Symbol.asyncDispose]() {
        await to(close, { method: 'POST', headers: developer.headers });
      },
    };
  }

  return {
    world,
    developer,
    to,
    agentWith,
    accountOf,
    policy: async (agentId, wanted) =>
      addPolicy(world.sql, { accountId: await accountOf(agentId), agentId, ...wanted }),
    asAgent: (agent, path) => to(`/v1/agents/${path}`, { headers: bearer(agent.key) }),
    [Symbol.asyncDispose]: () => world[Symbol.asyncDispose](),
  };
}
