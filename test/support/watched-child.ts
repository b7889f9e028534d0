/** The server as an operator has it, in a process that says for how long its event loop stood still. */
import { createApi } from '../../src/app/commands/demo/api.ts';
import { fundAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { completeSettings } from '../../src/app/local-secrets.ts';
import { startServer } from '../../src/app/server.ts';
import { readConfig } from '../../src/config/config.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import type { DatabaseTarget } from '../../src/platform/postgres/sql.ts';
import { threadCpuMs } from './thread-cpu.ts';

export type WatchedWord = {
  readonly url: string;
  readonly keys: readonly string[];
  /** The key of an agent that can pay for nothing. */
  readonly poorKey: string;
};
/** What it did in one go at most, in milliseconds of its processor, and how much memory it had at most. */
export type Watched = { readonly stallMs: number; readonly rssBytes: number };
export type WatchedOrder = 'begin' | 'end' | { readonly workForMs: number };

/** Far shorter than a stall, and too long to keep the loop busy. */
const LOOK_EVERY_MS = 4;
const AGENTS = 5;

const [, , place = ''] = process.argv;
const { settings } = completeSettings(readConfig(), systemRandom);
const server = await startServer({
  settings,
  clock: systemClock,
  random: systemRandom,
  log: silentLog,
  port: 0,
  secret: () => undefined,
  database: JSON.parse(place) as DatabaseTarget,
});
const api = createApi(server.url);
const { adminApiKey } = settings;
const nowSeconds = Math.floor(Date.now() / 1_000);
const keyOf = async (name: string, amountRaw: bigint): Promise<string> =>
  (await fundAgent(api, { name, amountRaw, adminApiKey, nowSeconds, said: () => {} })).agentKey;
const poorKey = await keyOf('poor', 1n);
const keys: string[] = [];
for (let i = 0; i < AGENTS; i++) keys.push(await keyOf(`agent ${i}`, 5_000_000n));

let lastMs = threadCpuMs();
let stallMs = 0;
let rssBytes = 0;
function look(): void {
  const nowMs = threadCpuMs();
  stallMs = Math.max(stallMs, nowMs - lastMs);
  lastMs = nowMs;
  rssBytes = Math.max(rssBytes, process.memoryUsage.rss());
}
setInterval(look, LOOK_EVERY_MS);

process.on('message', (order: WatchedOrder) => {
  look();
  if (order === 'begin') {
    stallMs = 0;
    rssBytes = process.memoryUsage.rss();
  } else if (order !== 'end') {
    const endMs = threadCpuMs() + order.workForMs;
    while (threadCpuMs() < endMs);
    setTimeout(() => process.send?.({ stallMs, rssBytes }), 2 * LOOK_EVERY_MS);
    return;
  }
  process.send?.({ stallMs, rssBytes } satisfies Watched);
});
process.on('disconnect', () => process.exit(0));
process.send?.({ url: server.url, keys, poorKey } satisfies WatchedWord);
