import { readFileSync } from 'node:fs';
import { Pool } from 'undici';
import { expect, it } from 'vitest';
import { createApi } from '../../src/app/commands/demo/api.ts';
import { PROVIDERS, type Provider } from '../../src/orchestrators/platform.ts';
import { connectPlatform, proofOf, type TestConnection } from '../support/platform-world.ts';
import { processPlace } from '../support/process-place.ts';
import { startServerProcess } from '../support/server-process.ts';
import { ask, newDeveloper } from '../support/whole-world.ts';

const CALLS = 500;
const P99_MS = 250;
/** Rounds, of which the best counts: a busy neighbour slows single ones. */
const ROUNDS = 20;

const QUESTIONS: Readonly<Record<Provider, object>> = {
  vapi: { message: { type: 'assistant-request', call: { id: 'c1' } } },
  retell: { event: 'call_inbound', call_inbound: { from_number: '+15550001' } },
  bland: {},
  pipecat: {},
  livekit: {},
};

/** CPU time that a process has used, of all its threads. */
function cpuMsOf(pid: number | undefined): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

it('500 questions before a call that come at once are answered within 250 ms', async () => {
  await using place = await processPlace();
  await using server = await startServerProcess({
    ...place.environment,
    PROVIDER_KEY_SECRET: 'p'.repeat(32),
  });
  const developer = await newDeveloper(createApi(server.url), 'asked');
  const connections: TestConnection[] = [];
  for (let n = 0; n < 5; n++) {
    const agentId = await developer.createAgent(`asked ${n}`);
    await ask(`${server.url}/v1/developer/agents/${agentId}/policies`, {
      headers: developer.headers,
      body: { kind: 'task', matchKey: 'task', limitRaw: '1000000' },
    });
    for (const provider of PROVIDERS) {
      connections.push(await connectPlatform(server.url, developer, agentId, provider));
    }
  }
  const pool = new Pool(server.url, { connections: CALLS, pipelining: 1 });
  const question = async (n: number): Promise<number> => {
    const connection = connections[n % connections.length] as TestConnection;
    const body = JSON.stringify(QUESTIONS[connection.provider]);
    const path = `${new URL(connection.preCallUrl).pathname}?assistantId=a1`;
    const headers = { 'content-type': 'application/json', ...proofOf(connection, body) };
    const startedMs = performance.now();
    const answer = await pool.request({ method: 'POST', path, headers, body });
    const told = await answer.body.text();
    const ms = performance.now() - startedMs;
    const isAdmitted = answer.statusCode === 200 && !/error|reject|reason":"/.test(told);
    return isAdmitted ? ms : Number.POSITIVE_INFINITY;
  };
  const rounds: { readonly p99Ms: number; readonly cpuMs: number }[] = [];
  const best = () => Math.min(...rounds.map(({ p99Ms }) => p99Ms));
  while (rounds.length < ROUNDS && best() >= P99_MS) {
    const before = cpuMsOf(server.child.pid);
    const times = await Promise.all(Array.from({ length: CALLS }, (_, n) => question(n)));
    const p99Ms = times.sort((a, b) => a - b)[Math.floor(CALLS * 0.99)] as number;
    rounds.push({ p99Ms, cpuMs: cpuMsOf(server.child.pid) - before });
  }
  await pool.close();
  const seen = rounds.map(({ cpuMs, p99Ms }) => `${Math.round(p99Ms)} (CPU ${cpuMs})`);
  expect(best(), seen.join(', ')).toBeLessThan(P99_MS);
}, 120_000);
