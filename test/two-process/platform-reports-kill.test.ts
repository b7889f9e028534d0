import { expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { checkInvariants } from '../../src/ledger/store/check-invariants.ts';
import { openSql } from '../../src/platform/postgres/sql.ts';
import { exhaustive } from '../support/exhaustive.ts';
import { connectPlatform, sendSigned, type TestConnection } from '../support/platform-world.ts';
import { processPlace } from '../support/process-place.ts';
import { type ServerProcess, startServerProcess } from '../support/server-process.ts';
import { ask, newDeveloper } from '../support/whole-world.ts';

/** A thousand calls, five reports each, take a minute and a half. */
const CALLS = exhaustive ? 1_000 : 200;
const KILLS = 3;
/** Requests under way at a time. */
const AT_ONCE = 24;

/** Cents of a call at its end, and after its analysis. */
const centsOf = (n: number) => [(n % 90) + 10, (n % 90) + 10 + ((n % 7) - 3)] as const;

/** All reports of the calls, each twice, in an order that puts analyses before ends as often as behind. */
function reportsOf(calls: number): { readonly n: number; readonly isAnalyzed: boolean }[] {
  const all = Array.from({ length: calls * 4 }, (_, i) => ({
    n: i % calls,
    isAnalyzed: i % 3 === 0 || i >= calls * 2,
  }));
  for (const n of Array.from({ length: calls }, (_, i) => i)) all.push({ n, isAnalyzed: false });
  // A fixed shuffle: each step is prime to the length.
  const step = 7_919;
  return all.map((_, i) => all[(i * step) % all.length] as (typeof all)[number]);
}

it('call-ends that are doubled and swapped over two processes count once, whenever a process is killed', async () => {
  await using place = await processPlace();
  const sql = openSql(place.target, 2);
  const secrets = { PROVIDER_KEY_SECRET: 'p'.repeat(32) };
  const start = () => startServerProcess({ ...place.environment, ...secrets });
  await using kept = await start();
  const developer = await newDeveloper(createApi(kept.url), 'swapped');
  const agentId = await developer.createAgent('swapped');
  const policies = `${kept.url}/v1/developer/agents/${agentId}/policies`;
  const limits = { limitRaw: '1000000000' };
  await ask(policies, {
    headers: developer.headers,
    body: { kind: 'api', matchKey: 'api.retellai.com', ...limits },
  });
  await ask(`${kept.url}/v1/developer/policies`, {
    headers: developer.headers,
    body: { kind: 'session', windowKind: 'rolling', ...limits },
  });
  const connection = await connectPlatform(kept.url, developer, agentId, 'retell');
  let doomed: ServerProcess = await start();
  const urlAt = ({ url }: ServerProcess) => `${url}${new URL(connection.webhookUrl).pathname}`;
  /** Sends a report until a process has taken it, as a platform does. */
  const send = async ({ n, isAnalyzed }: { n: number; isAnalyzed: boolean }, i: number) => {
    const [ended, analyzed] = centsOf(n);
    const call = {
      call_id: `call-${n}`,
      call_cost: { combined_cost: isAnalyzed ? analyzed : ended },
    };
    const body = { event: isAnalyzed ? 'call_analyzed' : 'call_ended', call };
    for (let tries = 0; tries < 20; tries++) {
      const at = (i + tries) % 2 === 0 ? kept : doomed;
      const answer = await sendSigned(connection as TestConnection, urlAt(at), body).catch(
        () => undefined,
      );
      if (answer?.status === 200) return;
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    throw new Error(`report ${i} was never taken`);
  };
  const reports = reportsOf(CALLS);
  let next = 0;
  const sender = async () => {
    while (next < reports.length) {
      const i = next++;
      await send(reports[i] as (typeof reports)[number], i);
    }
  };
  const sending = Promise.all(Array.from({ length: AT_ONCE }, sender));
  for (let kill = 1; kill <= KILLS; kill++) {
    await expect
      .poll(() => next, { interval: 5, timeout: 120_000 })
      .toBeGreaterThan((reports.length * kill) / (KILLS + 1));
    await doomed.kill();
    doomed = await start();
  }
  await sending;
  await doomed.kill();

  const totalRaw = Array.from({ length: CALLS }, (_, n) => BigInt(centsOf(n)[1]) * 10_000n).reduce(
    (sum, raw) => sum + raw,
    0n,
  );
  const [row] = await sql`
    select (select count(*)::int from platform_calls where agent_id = ${agentId}) as calls,
      (select sum(cost_raw)::text from platform_calls where agent_id = ${agentId}) as cost,
      (select sum(calls)::int from reconciled_events where agent_id = ${agentId}) as lines,
      (select sum(cost_raw)::text from reconciled_events where agent_id = ${agentId}) as reported,
      (select (select sum(b) from unnest(c.buckets) b)::text from team_counters c) as team`;
  expect(row).toEqual({
    calls: CALLS,
    cost: String(totalRaw),
    lines: CALLS,
    reported: String(totalRaw),
    team: String(totalRaw),
  });
  const { body } = await ask(policies, { headers: developer.headers });
  expect(body.policies).toMatchObject([{ spentRaw: String(totalRaw) }]);
  expect(await checkInvariants(sql)).toEqual([]);
  await sql.end({ timeout: 1 });
}, 300_000);
