/**
 * A server under test, in a process of its own: the metered gateway over a durable ledger, or the bare relay. Told by its
 * argument what to be; tells its parent where it listens, and when asked, how long commits of one row take from here.
 */

import { favourMedia } from '../src/app/favour-media.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { newId } from '../src/kernel/ids.ts';
import { silentLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import { seal } from '../src/kernel/seal.ts';
import { Teardown } from '../src/kernel/teardown.ts';
import type { ModelEntry } from '../src/models/catalogue/builtin/builtin-model.ts';
import { insertResponses } from '../src/models/responses/kept/response-store.ts';
import { BY_KEY, openSql, type Sql } from '../src/platform/postgres/sql.ts';
import { noMetrics } from '../src/platform/tracing/metrics.ts';
import { openTracing } from '../src/platform/tracing/open-tracing.ts';
import { gatewayWorld } from '../test/support/gateway-world.ts';
import { liveLedger } from '../test/support/ledger-load.ts';
import type { HostOrder, MeteredOrder } from './gateways.ts';
import { openRelay } from './relay.ts';

/** The limits still count; they are only out of reach. */
const UNLIMITED = { gatewayPerMinute: 1e9, globalPerMinute: 1e9, ipPerMinute: 1e9 };
/** As many as the ledger's own pool has. */
const CONNECTIONS = 6;

/** As a server is configured that sends every trace to a collector, unless its caller samples none. */
const tracerTo = (url: string | undefined) =>
  openTracing(
    { clock: systemClock, log: silentLog, metrics: noMetrics },
    url === undefined
      ? undefined
      : {
          url,
          headers: {},
          serviceName: 'bench',
          reachesUpstreams: false,
          sampler: { isParentBased: true, ratio: 1 },
        },
    new Teardown(),
  );

const modelOf = (id: string, provider: string): ModelEntry => ({
  id,
  modality: 'text',
  sources: [
    {
      rail: 'self-host',
      provider,
      upstreamModel: 'bench',
      rates: { text_input_token: '2.5', text_output_token: '10' },
    },
  ],
});

/** Asks what the sealing and the row alone cost of a response with so many bytes that is kept. */
export type KeptFloor = { readonly rows: number; readonly bytes: number };

/** As many responses as 64 callers bring at a time. */
const ROWS_TOGETHER = 20;
const SECRET = 's'.repeat(32);

/** What one of them costs, in microseconds of this process's CPU. */
async function keepAlone(sql: Sql, agentId: number, { bytes, rows }: KeptFloor): Promise<number> {
  const response = Buffer.alloc(bytes, 'x');
  const before = process.cpuUsage();
  for (let made = 0; made < rows; made += ROWS_TOGETHER) {
    const together = Array.from({ length: ROWS_TOGETHER }, () => {
      const id = newId(systemRandom, 'resp_');
      const sealed = seal(SECRET, id, response, systemRandom);
      return { id, agentId, previousId: null, itemIds: [id], sealed, keptDays: 1 };
    });
    await insertResponses(sql, together);
  }
  const { system, user } = process.cpuUsage(before);
  return (system + user) / rows;
}

async function openMetered(order: MeteredOrder): Promise<number> {
  const { agentId, collectorUrl, keyId, target, upstreamPort } = order;
  const sql = openSql(target, CONNECTIONS, BY_KEY);
  const ledger = liveLedger(sql, `chat bench ${process.pid}`);
  const reference = `chat bench ${process.pid}`;
  await ledger.credit({ agentId, amountRaw: 10n ** 12n, reference });
  const upstream = { baseUrl: `http://127.0.0.1:${upstreamPort}/v1`, dialect: 'openai' } as const;
  const { baseUrl } = await gatewayWorld({
    ledger,
    agentId,
    keyId,
    keptIn: sql,
    rateLimits: UNLIMITED,
    tracer: await tracerTo(collectorUrl),
    providers: {
      peer: upstream,
      responses: { ...upstream, speaksResponses: true },
      messages: { ...upstream, dialect: 'anthropic' },
    },
    models: [
      modelOf('bench/model', 'peer'),
      modelOf('bench/responses', 'responses'),
      modelOf('bench/messages', 'messages'),
    ],
  });
  const one = openSql(target, 1);
  await one`create table if not exists bench_commits (value integer)`;
  process.on('message', async (asked: number | KeptFloor) => {
    if (typeof asked === 'object') return process.send?.(await keepAlone(one, agentId, asked));
    const times = asked;
    const tookMs: number[] = [];
    for (let i = 0; i < times; i++) {
      const startedMs = performance.now();
      await one`insert into bench_commits values (${i})`;
      tookMs.push(performance.now() - startedMs);
    }
    process.send?.(tookMs);
  });
  return Number(new URL(baseUrl).port);
}

process.on('disconnect', () => process.exit(0));
favourMedia();
const order = JSON.parse(process.argv[2] ?? '') as HostOrder;
const port = await (order.kind === 'relay' ? openRelay(order.upstreamPort) : openMetered(order));
process.send?.({ port });
