import { createApi } from '../../src/app/commands/demo/api.ts';
import { fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { type DatabaseTarget, openSql, type Sql } from '../../src/platform/postgres/sql.ts';
import type { CarrierSimOptions } from './carrier-sim/options.ts';
import { type CarrierSim, startCarrierSim } from './carrier-sim/start-carrier-sim.ts';
import { behindTwilio, reachedAt } from './carrier-world.ts';
import { ADMIN_KEY, processPlace, SECRETS } from './process-place.ts';
import { epochSeconds } from './whole-world.ts';

/** A carrier of several server processes. */
export type AimedCarrier = AsyncDisposable & {
  readonly sim: CarrierSim;
  /** With what each process is started, beside its database. */
  readonly environment: Readonly<Record<string, string>>;
  /** From now on the carrier reaches this process. */
  aim(server: { readonly url: string }): void;
};

/** What server processes of one PostgreSQL database and one simulated carrier have in common. */
export type CarrierProcesses = AimedCarrier & {
  readonly sql: Sql;
  readonly target: DatabaseTarget;
};

/** A simulated Twilio for processes that have their database already. */
export async function aimedCarrier(options: CarrierSimOptions): Promise<AimedCarrier> {
  let aimedUrl = '';
  const sim = await startCarrierSim({ reach: (url) => reachedAt(url, aimedUrl), ...options });
  return {
    sim,
    environment: { ...SECRETS, ...behindTwilio(sim) },
    aim({ url }) {
      aimedUrl = url;
    },
    [Symbol.asyncDispose]: () => sim[Symbol.asyncDispose](),
  };
}

/** A database by URL and a carrier, for processes that a test starts itself. */
export async function carrierProcesses(
  options: CarrierSimOptions,
  connections = 4,
): Promise<CarrierProcesses> {
  const place = await processPlace();
  const { target } = place;
  if (target.kind !== 'url') throw new Error('set TEST_DATABASE_URL for the two-process tests');
  const carrier = await aimedCarrier(options);
  const sql = openSql(target, connections);
  return {
    ...carrier,
    sql,
    target,
    environment: { ...place.environment, ...carrier.environment },
    async [Symbol.asyncDispose]() {
      await carrier[Symbol.asyncDispose]();
      await sql.end({ timeout: 1 });
      await place[Symbol.asyncDispose]();
    },
  };
}

/** An agent that was made and credited over HTTP at one of the processes. */
export async function fundAt({ url }: { readonly url: string }, name: string, amountRaw: bigint) {
  const agent = await fundAgent(createApi(url), {
    name,
    amountRaw,
    adminApiKey: ADMIN_KEY,
    nowSeconds: epochSeconds(),
    said: () => {},
  });
  return { ...agent, headers: { authorization: `Bearer ${agent.agentKey}` } };
}
