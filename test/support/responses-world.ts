import { expect } from 'vitest';
import type { ModelEntry } from '../../src/models/catalogue/builtin/builtin-model.ts';
import type { ChatMember } from '../../src/models/providers/chat-members.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import { createFakeLedger } from './fake-ledger.ts';
import { AGENT_KEY, gatewayWorld } from './gateway-world.ts';
import { seedAgents } from './ledger-world.ts';
import { responsesUpstream } from './responses-upstream.ts';
import { streamUpstream } from './stream-upstream.ts';

/** An upstream that speaks chat alone, and one that speaks Responses. */
export const CHAT_MODEL = 'acme/fast-1';
export const OWN_MODEL = 'open/own-1';
export const OTHER_KEY = `svc_${'b'.repeat(64)}`;

const RATES = { text_input_token: '2.5', text_output_token: '10' };

const modelOf = (id: string, provider: string): ModelEntry => ({
  id,
  modality: 'text',
  sources: [{ rail: 'direct-account', provider, upstreamModel: 'vendor', rates: RATES }],
});

/** Upstreams of both dialects behind the gateway, and two funded agents; responses are kept where there is a database. */
export async function responsesWorld({
  chatMembers,
  sql,
  ...more
}: {
  /** What the upstream that speaks chat takes beyond what all do. */
  readonly chatMembers?: readonly ChatMember[];
  readonly sql?: Sql;
} & Partial<Parameters<typeof gatewayWorld>[0]> = {}) {
  const agents = sql === undefined ? [] : await seedAgents(sql, 2);
  const [agentId, otherId] = [agents[0]?.agentId ?? 1, agents[1]?.agentId ?? 2];
  const ledger = createFakeLedger();
  for (const id of [agentId, otherId]) {
    await ledger.credit({ agentId: id, amountRaw: 10n ** 12n, reference: `start ${id}` });
  }
  const chat = await streamUpstream();
  const own = await responsesUpstream();
  const gateway = await gatewayWorld({
    ledger,
    agentId,
    ...(sql && { keptIn: sql }),
    others: new Map([[OTHER_KEY, { agentId: otherId, keyId: 2 }]]),
    providers: {
      acme: { baseUrl: chat.baseUrl, dialect: 'openai', apiKeyEnv: 'UP_KEY', chatMembers },
      open: { baseUrl: own.baseUrl, dialect: 'openai', apiKeyEnv: 'UP_KEY', speaksResponses: true },
    },
    secret: () => 'sk-pool',
    models: [modelOf(CHAT_MODEL, 'acme'), modelOf(OWN_MODEL, 'open')],
    ...more,
  });
  return {
    agentId,
    otherId,
    ledger,
    chat,
    own,
    gateway,
    /** What has left the first agent, by its balance and by its rows, once nothing is under way any more. */
    async charged(): Promise<bigint> {
      await expect.poll(() => ledger.openHolds()).toBe(0);
      const rows = ledger.charges.filter((row) => row.agentId === agentId);
      const charged = rows.reduce((sum, { costRaw }) => sum + costRaw, 0n);
      expect(charged).toBe(ledger.consumedRaw(agentId));
      return charged;
    },
    send: (method: string, path: string, body?: unknown, key = AGENT_KEY) =>
      fetch(gateway.baseUrl + path, {
        method,
        headers: { authorization: `Bearer ${key}` },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      }),
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await chat[Symbol.asyncDispose]();
      await own[Symbol.asyncDispose]();
    },
  };
}
