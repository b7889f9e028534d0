import type { LocalEngines } from '../../src/engines/engine.ts';
import { createLocalEngines } from '../../src/engines/local-engines.ts';
import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';

let engines: LocalEngines | undefined;

/** The engines of all servers in this process: to load a recogniser takes seconds, which no test is about. */
export function sharedEngines(): LocalEngines {
  engines ??= createLocalEngines({
    clock: systemClock,
    random: systemRandom,
    log: silentLog,
    // Other tests take the recogniser's time.
    sizes: { listeners: 100 },
  });
  return engines;
}
