import { createApi } from '../../src/app/commands/demo/api.ts';
import { fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { type DatabaseTarget, openSql, type Sql } from '../../src/platform/postgres/sql.ts';
import type { CarrierSimOptions } from './carrier-sim/options.ts';
import { type CarrierSim, startCarrierSim } from './carrier-sim/start-carrier-sim.ts';
import { behindTwilio, reachedAt } from './carrier-world.ts';
import { ADMIN_KEY, processPlace } from './process-place.ts';
import { epochSeconds } from './whole-world.ts';

/** What server processes of one PostgreSQL database and one simulated carrier have in common. */
export type CarrierProcesses = AsyncDisposable & {
  readonly sim: CarrierSim;
  readonly sql: Sql;
  readonly target: DatabaseTarget;
  /** With what each of them is started. */
  readonly environment: Readonly<Record<string, string>>;
  /** From now on the carrier reaches this process. */
  aim(server: { readonly url: string }): void;
};

/** A database by URL and a carrier, for processes that a test starts itself. */
export async function carrierProcesses(
  options: CarrierSimOptions,
  connections = 4,
): Promise<CarrierProcesses> {
  const place = await processPlace();
  const { target } = place;
  if (target.kind !== 'url') throw new Error('set TEST_DATABASE_URL for the two-process tests');
  let aimedUrl = '';
  const sim = await startCarrierSim({ reach: (url) => reachedAt(url, aimedUrl), ...options });
  const sql = openSql(target, connections);
  return {
    ...{ sim, sql, target },
    environment: { ...place.environment, ...behindTwilio(sim) },
    aim({ url }) {
      aimedUrl = url;
    },
    async [Symbol.asyncDispose]() {
      await sim[Symbol.asyncDispose]();
      await sql.end({ timeout: 1 });
      await place[Symbol.asyncDispose]();
    },
  };
}

/** An agent that was made and credited over HTTP at one of the processes. */
export async function fundAt({ url }: { readonly url: string }, name: string, amountRaw: bigint) {
  const agent = await fundAgent(createApi(url), {
    ...{ name, amountRaw },
    adminApiKey: ADMIN_KEY,
    nowSeconds: epochSeconds(),
    said: () => {},
  });
  return { ...agent, headers: { authorization: `Bearer ${agent.agentKey}` } };
}
