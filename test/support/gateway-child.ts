import { openSql } from '../../src/platform/postgres/sql.ts';
import { gatewayWorld } from './gateway-world.ts';
import { liveLedger } from './ledger-load.ts';
import { type gatewayProcess, keyOf, RACE_MODELS } from './spend-race.ts';

/** One process of a race: the gateway with a ledger of its own, and limits that do not limit. */
const [, , options = '{}'] = process.argv;
const { target, nodeId, agents, upstreamUrl } = JSON.parse(options) as Parameters<
  typeof gatewayProcess
>[0];

const sql = openSql(target, 4);
const gateway = await gatewayWorld({
  ledger: liveLedger(sql, nodeId),
  others: new Map(agents.map((agent) => [keyOf(agent), agent])),
  providers: { acme: { baseUrl: upstreamUrl, dialect: 'openai' } },
  models: RACE_MODELS,
  rateLimits: { gatewayPerMinute: 1_000_000, globalPerMinute: 1_000_000 },
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url: gateway.baseUrl });
