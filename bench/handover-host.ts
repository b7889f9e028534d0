import { favourMedia } from '../src/app/favour-media.ts';
import { completeSettings } from '../src/app/local-secrets.ts';
import { startServer } from '../src/app/server.ts';
import { readConfig, readSecret } from '../src/config/config.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import type { HandoverHostOrder } from './handover.bench.ts';

/** The whole server in a process of its own, on a database that it shares. SIGTERM stops it as it does the server. */

process.on('disconnect', () => process.exit(0));
favourMedia();

const { environment, target } = JSON.parse(process.argv[2] ?? '{}') as HandoverHostOrder;
const { settings } = completeSettings(readConfig(environment), systemRandom);
const server = await startServer({
  settings,
  database: target,
  port: 0,
  log: silentLog,
  clock: systemClock,
  random: systemRandom,
  secret: readSecret,
});
process.on('SIGTERM', () => {
  void server[Symbol.asyncDispose]().then(() => process.exit(0));
});
process.send?.({ port: server.port });
