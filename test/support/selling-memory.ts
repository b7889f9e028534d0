import { createMemoryModels } from '../../src/app/build/memory/memory-models.ts';
import { createIdempotencyKeys } from '../../src/idempotency/idempotency-store.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { embeddersOf } from '../../src/memory/embedder.ts';
import type { Models } from '../../src/memory/purchase/models.ts';
import { buildCatalogue } from '../../src/models/catalogue/build-catalogue.ts';
import type { ModelEntry } from '../../src/models/catalogue/builtin/builtin-model.ts';
import { findOwner } from '../../src/payments/reservations/reservation-store.ts';
import type { Sql } from '../../src/platform/postgres/sql.ts';
import type { Tracer } from '../../src/platform/tracing/span.ts';
import { gatewayServices } from './gateway-services.ts';
import { memoryProcess, memoryWorld, wordEmbedder } from './memory-world.ts';
import { type OpenAiUpstream, openAiUpstream } from './openai-upstream.ts';
import { processOn } from './reaping-process.ts';

export const VECTORS = 'acme/vectors-1';
export const OTHER_VECTORS = 'acme/vectors-2';
export const WORDS = 'acme/words-1';
/** So large a share of a dollar that a test can see a single token. */
const RATE = '1000';
const LEASE_MS = 60_000;

function catalogueOf({ baseUrl }: OpenAiUpstream, without: readonly string[]) {
  const source = { rail: 'direct-account', provider: 'up', upstreamModel: 'm' } as const;
  const rates = { text_input_token: RATE };
  const models: ModelEntry[] = [
    { id: VECTORS, modality: 'embedding', sources: [{ ...source, rates }] },
    { id: OTHER_VECTORS, modality: 'embedding', sources: [{ ...source, rates }] },
    {
      id: WORDS,
      modality: 'text',
      sources: [{ ...source, rates: { ...rates, text_output_token: RATE } }],
    },
  ];
  return buildCatalogue({
    providers: new Map([['up', { baseUrl, apiKeyEnv: 'UP_KEY', dialect: 'openai' }]]),
    models: models.filter(({ id }) => !without.includes(id)),
    secret: () => 'sk-upstream',
  });
}

type SellerOptions = {
  readonly usual?: string;
  readonly inferModel?: string;
  /** Models that the catalogue does not have any more. */
  readonly without?: readonly string[];
  /** In place of the gateway's own, for a process that dies between two steps. */
  readonly through?: (models: Models) => Models;
  readonly tracer?: Tracer;
  readonly onStep?: Parameters<typeof memoryProcess>[1] extends infer O
    ? O extends { onStep?: infer S }
      ? S
      : never
    : never;
};

let nodes = 0;

/** A process with the memory store, its own ledger and the gateway before the upstream. */
async function sellerOn(sql: Sql, upstream: OpenAiUpstream, options: SellerOptions) {
  const { inferModel, onStep, through = (models) => models, tracer, usual = VECTORS } = options;
  const money = await processOn(sql, `memory-${process.pid}-${++nodes}`, LEASE_MS);
  const catalogue = catalogueOf(upstream, options.without ?? []);
  const { ledger, node } = money;
  const gateway = gatewayServices({ catalogue, ledger, limits: { totalMs: 5_000 } });
  const owner = (agentId: number) => findOwner(sql, agentId);
  const models = through(createMemoryModels({ ...gateway.services, catalogue, findOwner: owner }));
  const works = createIdempotencyKeys({ sql, node, windowMs: 60_000 });
  const sells = (model: string) => catalogue.find(model)?.modality === 'embedding';
  const embedders = embeddersOf(wordEmbedder, {
    ...(usual === 'test/words' ? {} : { usual }),
    sells,
  });
  const shop = { models, random: systemRandom, works, inferModel, tracer };
  return {
    options: { selling: { embedders, shop }, ...(onStep === undefined ? {} : { onStep }) },
    money,
    gateway,
  };
}

/** The memory store over the real ledger and the gateway, before an upstream of the OpenAI protocol. */
export async function sellingMemory(options: SellerOptions & { readonly fundsRaw?: bigint } = {}) {
  const upstream = await openAiUpstream();
  upstream.usage = { prompt_tokens: 5, completion_tokens: 5 };
  const base = await memoryWorld();
  const { agentId, sql } = base;
  const first = await sellerOn(sql, upstream, options);
  const sellers = [first];
  const { ledger } = first.money;
  const { fundsRaw = 1_000_000n } = options;
  if (fundsRaw > 0n) await ledger.credit({ agentId, amountRaw: fundsRaw, reference: 'start' });
  const own = memoryProcess(sql, first.options);
  return {
    sql,
    agentId,
    upstream,
    ledger,
    ...own,
    async another(more: SellerOptions = options) {
      const seller = await sellerOn(sql, upstream, more);
      sellers.push(seller);
      return { ...memoryProcess(sql, seller.options), money: seller.money };
    },
    ingest: (texts: readonly string[], more: Record<string, unknown> = {}, infer = false) =>
      own.ask(agentId, 'ingest', {
        type: 'memory',
        memories: texts.map((text) => ({ text, infer })),
        ...more,
      }),
    /** What the agent has paid by now, and what is held. */
    async money() {
      const [row] = await sql<{ consumed: bigint; held: bigint }[]>`
        select consumed_raw as consumed, held_raw as held from agent_funds
        where agent_id = ${agentId}`;
      return row;
    },
    async items() {
      return sql<{ id: string; status: string; costRaw: bigint; reason: string | null }[]>`
        select id, status, cost_raw as "costRaw", reason from memory_items
        where agent_id = ${agentId} order by seq`;
    },
    async chunks() {
      const rows = await sql<{ content: string }[]>`select content from memory_chunks order by id`;
      return rows.map(({ content }) => content);
    },
    /** The claims of processes that died end now, and what waits is due. */
    due: () => sql`update memory_items set due_at = now() where due_at is not null`,
    /** The ledger finds that a process died, and releases what it held. */
    async reap(nodeId: string) {
      await sql`update leases set expires_at = now() - interval '1 minute' where node_id = ${nodeId}`;
      await first.money.atOnce.tick();
    },
    async [Symbol.asyncDispose]() {
      await own.indexer[Symbol.asyncDispose]();
      for (const { gateway, money } of sellers) {
        await gateway[Symbol.asyncDispose]();
        await money.ledger[Symbol.asyncDispose]();
      }
      await base[Symbol.asyncDispose]();
      await upstream[Symbol.asyncDispose]();
    },
  };
}
