import { HTTP_LIMITS } from '../../http/limits.ts';
import type { Log } from '../../kernel/log.ts';
import type { Worker } from '../../kernel/schedule.ts';
import type { Fetch } from '../../platform/egress/fetch.ts';

const PUSH_MS = 15_000;
const TIMEOUT_MS = 5_000;

/**
 * Starts to report the state of this process to the configured monitor. An unreachable monitor is no failure of this server.
 */
export function pushMonitoring(deps: {
  readonly fetch: Fetch;
  readonly log: Log;
  readonly url: string;
  readonly key: string;
  /** Builds the report, which is small and has no secrets. */
  readonly status: () => Promise<unknown>;
}): Worker {
  const { log, url, key, status } = deps;
  let wasAway = false;

  const push = async () => {
    const answer = await deps.fetch({
      url,
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-internal-key': key },
      body: JSON.stringify(await status()),
      timeoutMs: TIMEOUT_MS,
      maxResponseBytes: HTTP_LIMITS.body.jsonBytes,
    });
    if (answer.status >= 300) throw new Error(`the monitor answered ${answer.status}`);
  };

  return {
    name: 'push-monitoring',
    everyMs: PUSH_MS,
    async tick() {
      try {
        await push();
        wasAway = false;
      } catch (err) {
        // Logged once per outage and not at every push.
        if (!wasAway) log.warn({ err }, 'monitoring push failed');
        wasAway = true;
      }
    },
  };
}
