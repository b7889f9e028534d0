import type { Ledger } from '../../../src/ledger/rules/ledger.ts';
import type { ModelEntry } from '../../../src/models/catalogue/builtin/builtin-model.ts';
import { gatewayWorld } from '../gateway-world.ts';
import { streamUpstream } from '../stream-upstream.ts';
import type { Goods } from './reckoning.ts';
import { type Books, SOURCES } from './run-mode.ts';

/** An upstream that does as it is told, under many names, and the gateway before it on this ledger. */
export async function breakWorld(options: {
  readonly goods: readonly Goods[];
  readonly ledger: Ledger;
  readonly books: Books;
  readonly agentId?: number;
  readonly keyId?: number;
}) {
  const { books, goods, ...agent } = options;
  const upstream = await streamUpstream();
  const models = goods.flatMap(({ dialect = 'openai', id, modality, provider = dialect, rates }) =>
    Array.from({ length: SOURCES }, (_, i): ModelEntry => {
      const source = {
        rail: 'direct-account',
        provider,
        upstreamModel: `${id}-${i}`,
      } as const;
      return { id: `${id}/${i}`, modality, sources: [{ ...source, rates }] };
    }),
  );
  const gateway = await gatewayWorld({
    ...agent,
    models,
    providers: {
      // The number of a run travels as its `user`.
      openai: { baseUrl: upstream.baseUrl, dialect: 'openai', chatMembers: ['user'] },
      anthropic: { baseUrl: upstream.baseUrl, dialect: 'anthropic' },
      own: { baseUrl: upstream.baseUrl, dialect: 'openai', speaksResponses: true },
    },
    rateLimits: { gatewayPerMinute: 1_000_000, ipPerMinute: 1_000_000, globalPerMinute: 1_000_000 },
    // As short as the timers of the client that asks upstreams can tell.
    limits: { idleMs: 1_000 },
  });
  return {
    upstream,
    books,
    baseUrl: gateway.baseUrl,
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
