import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { favourMedia } from '../src/app/favour-media.ts';
import { createLocalEngines } from '../src/engines/local-engines.ts';
import { loadSpeechGates } from '../src/engines/vad/fvad-gate.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import { createLedger } from '../src/ledger/engine/ledger.ts';
import type { Ledger } from '../src/ledger/rules/ledger.ts';
import { createBalanceStore } from '../src/ledger/store/balances.ts';
import { openDatabase } from '../src/platform/postgres/database.ts';
import { createRealtimeSocket } from '../src/protocols/openai-realtime/realtime-socket.ts';
import { createTranscriptionSocket } from '../src/protocols/transcript-events/transcript-socket.ts';
import type { VoiceDeps } from '../src/voice/live/voice-deps.ts';
import { startEdge } from '../test/support/edge.ts';
import { seedAgents } from '../test/support/ledger-world.ts';
import { DESTINATION } from '../test/support/spending.ts';
import { createVoiceWorld } from '../test/support/voice-world.ts';
import { ownAgents, relaysTo } from './relays.ts';

/**
 * The server's side of the socket bench, a process of its own so that what it measures of itself is
 * not the client's. The bench asks by message: `memory`, `loop <ms>`, `spend`, `end`.
 */
export type HostReport = {
  readonly port?: number;
  readonly heapBytes?: number;
  readonly rssBytes?: number;
  readonly loopP99Ms?: number;
  readonly operations?: number;
};

const CREDIT_RAW = 1_000_000_000n;
const LOOP_RESOLUTION_MS = 5;
const SPENDERS = 64;

/** A bench that was stopped leaves no server behind. */
process.on('disconnect', () => process.exit(1));
favourMedia();

const report = (message: HostReport) => process.send?.(message);

type Relays = Partial<Pick<ReturnType<typeof relaysTo>, 'realtime' | 'listen'>>;

async function serve(deps: VoiceDeps, { listen, realtime }: Relays = {}) {
  const sockets = [createTranscriptionSocket(deps, listen), createRealtimeSocket(deps, realtime)];
  return startEdge({ sockets, credentials: ownAgents });
}

/** The edge over fake engines, an upstream elsewhere and a ledger in memory: what remains is the session itself. */
async function hostSessions(upstreamPort: number): Promise<void> {
  const { catalogue, ...relays } = relaysTo(upstreamPort);
  const world = await createVoiceWorld({
    clock: systemClock,
    creditRaw: CREDIT_RAW,
    change: { catalogue },
  });
  for (let agentId = 1; agentId <= 2_000; agentId++) {
    await world.ledger.credit({
      agentId,
      amountRaw: CREDIT_RAW,
      reference: `bench ${agentId}`,
    });
  }
  world.engines.stt.pocketsphinx.streams = 10_000;
  const edge = await serve(world.deps, relays);
  process.on('message', async (message) => {
    if (message === 'end') process.exit(0);
    // Twice, with a pause: what a finaliser frees is only seen by the second.
    for (let i = 0; i < 2; i++) {
      global.gc?.();
      await new Promise((resolve) => systemClock.setTimeout(() => resolve(undefined), 200));
    }
    // What is external includes the array buffers.
    const { heapUsed, external, rss } = process.memoryUsage();
    report({ heapBytes: heapUsed + external, rssBytes: rss });
  });
  report({ port: edge.port });
}

/** The edge over the real engines and the real ledger on an embedded database. */
async function hostEngines(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'bench-sockets-'));
  const shared = { clock: systemClock, random: systemRandom, log: silentLog };
  const database = await openDatabase({
    database: { kind: 'directory', path: join(directory, 'db') },
    ...shared,
  });
  await database.migrate();
  const ledger = createLedger({
    ...shared,
    store: createBalanceStore({
      sql: database.sql,
      node: { nodeId: 'bench', leaseEpoch: 1 },
    }),
  });
  const agents = await seedAgents(database.sql, 32);
  for (const { agentId } of agents) {
    await ledger.credit({ agentId, amountRaw: CREDIT_RAW, reference: `bench ${agentId}` });
  }
  const engines = createLocalEngines(shared);
  const world = await createVoiceWorld({
    clock: systemClock,
    creditRaw: CREDIT_RAW,
    change: { engines, ledger, speechGates: await loadSpeechGates() },
  });
  const edge = await serve(world.deps);
  const agentIds = agents.map(({ agentId }) => agentId);
  const spending = { on: false, operations: 0 };

  process.on('message', async (message) => {
    const [word, argument] = String(message).split(' ');
    if (word === 'spend') {
      spending.on = true;
      for (let i = 0; i < SPENDERS; i++) {
        void spend(ledger, agentIds[i % agentIds.length] ?? 1, i, spending);
      }
    } else if (word === 'loop') {
      const from = spending.operations;
      report({
        loopP99Ms: await loopDelay(Number(argument)),
        operations: spending.operations - from,
      });
    } else {
      spending.on = false;
      await edge[Symbol.asyncDispose]();
      await engines[Symbol.asyncDispose]();
      await ledger[Symbol.asyncDispose]();
      await database[Symbol.asyncDispose]();
      rmSync(directory, { recursive: true, force: true });
      process.exit(0);
    }
  });
  report({ port: edge.port });
}

/** One caller that holds and settles without a pause. */
async function spend(
  ledger: Ledger,
  agentId: number,
  caller: number,
  spending: { on: boolean; operations: number },
): Promise<void> {
  for (let n = 0; spending.on; n++) {
    const verdict = await ledger.hold({
      spender: { agentId },
      holdId: `bench ${caller} ${n}`,
      amountRaw: 10n,
      destination: DESTINATION,
    });
    if (verdict.kind !== 'held') return;
    await ledger.settle({
      hold: verdict.hold,
      actualRaw: 1n,
      account: 'gateway',
      source: 'bench',
    });
    spending.operations += 2;
  }
}

async function loopDelay(ms: number): Promise<number> {
  const delay = monitorEventLoopDelay({ resolution: LOOP_RESOLUTION_MS });
  delay.enable();
  await new Promise((resolve) => systemClock.setTimeout(() => resolve(undefined), ms));
  delay.disable();
  return delay.percentile(99) / 1e6 - LOOP_RESOLUTION_MS;
}

await (process.argv[2] === 'engines' ? hostEngines() : hostSessions(Number(process.argv[3])));
