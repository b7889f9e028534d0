import { readConfig } from '../../config/config.ts';
import { systemClock } from '../../kernel/clock.ts';
import { systemRandom } from '../../kernel/random.ts';
import { createFetch } from '../../platform/egress/fetch.ts';
import { isKnownPattern, matchesEvent } from '../../webhooks/catalogue.ts';
import { newWebhookSecret } from '../../webhooks/delivery/sign-delivery.ts';
import { eventLine } from './listen/event-line.ts';
import { followFeed } from './listen/follow-feed.ts';
import { forwardEvent } from './listen/forward-event.ts';
import type { FeedEvent } from './listen/read-feed.ts';
import { readOptions, runUntilSignal } from './run-command.ts';

/** `npm run listen -- --forward URL`: prints an account's events as they happen, and posts them to a local webhook receiver. */

const USAGE =
  'usage: npm run listen -- [--forward URL] [--events PATTERN,…] [--after SEQUENCE] [--key svc_live_…] [--server http://127.0.0.1:3001]';

const OPTIONS = {
  forward: { type: 'string' },
  events: { type: 'string', default: '*' },
  after: { type: 'string' },
  key: { type: 'string' },
  server: { type: 'string' },
} as const;

const isHttpUrl = (text: string) => URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);

function readArguments() {
  const { after, events, forward, key, server } = readOptions(OPTIONS, USAGE);
  const urls = [forward, server].filter((url) => url !== undefined);
  const isSequence = after === undefined || /^\d{1,15}$/.test(after);
  if (!urls.every(isHttpUrl) || !isSequence) throw new Error(USAGE);
  const patterns = events.split(',').map((pattern) => pattern.trim());
  const dead = patterns.find((pattern) => !isKnownPattern(pattern));
  if (dead !== undefined) {
    throw new Error(`No event is called "${dead}": name events as a webhook does, such as call.*`);
  }
  return { after, forward, key, patterns, server: server?.replace(/\/+$/, '') };
}

async function listen(signal: AbortSignal): Promise<void> {
  const { after, forward, key: given, patterns, server: asked } = readArguments();
  const { developerKey, port, tls } = readConfig();
  const server = asked ?? `${tls ? 'https' : 'http'}://127.0.0.1:${port}`;
  const key = given ?? developerKey;
  if (key === undefined || !/^[\x21-\x7e]+$/.test(key)) {
    throw new Error('Pass a developer key, svc_live_…, with --key or in DEVELOPER_KEY.');
  }
  const { abort, fetch } = createFetch();
  signal.addEventListener('abort', abort, { once: true });
  const deps = { fetch, clock: systemClock, random: systemRandom, signal };
  const secret = newWebhookSecret(systemRandom);
  if (forward !== undefined) console.log(`Forwards to ${forward}, signed with ${secret}`);

  const received = async (event: FeedEvent) => {
    if (!patterns.some((pattern) => matchesEvent(pattern, event.event))) return;
    console.log(eventLine(event));
    if (forward === undefined) return;
    const outcome = await forwardEvent(deps, { secret, url: forward }, event);
    if (!signal.aborted) console.log(`    -> ${outcome}`);
  };
  await followFeed({ ...deps, said: console.log, received }, { key, server }, after);
}

const stop = new AbortController();
// The handler stays registered: npm forwards the Ctrl-C that the terminal has sent already.
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stop.abort());
// The reader of the lines may leave.
process.stdout.once('error', () => stop.abort());
await runUntilSignal(() => listen(stop.signal));
