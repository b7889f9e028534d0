import { favourMedia } from '../src/app/favour-media.ts';
import { createLocalEngines } from '../src/engines/local-engines.ts';
import { loadNoiseSuppressors } from '../src/engines/noise-suppressor.ts';
import { loadSpeechGates } from '../src/engines/vad/fvad-gate.ts';
import type { CarrierSocket } from '../src/http/route/socket-route.ts';
import { systemClock } from '../src/kernel/clock.ts';
import { silentLog } from '../src/kernel/log.ts';
import { systemRandom } from '../src/kernel/random.ts';
import { answerMedia } from '../src/phone/calls/answer-media.ts';
import type { CallDeps } from '../src/phone/calls/call-deps.ts';
import type { CarrierHooks } from '../src/phone/calls/calls.ts';
import { CallFeed } from '../src/phone/calls/feed/call-feed.ts';
import { createTurnWriter } from '../src/phone/calls/turn-writer.ts';
import type { Carrier } from '../src/phone/carriers/carrier.ts';
import { createTwilioMediaCodec } from '../src/phone/carriers/twilio/media-codec.ts';
import { RATE_CARD } from '../src/phone/rate-card.ts';
import { BY_KEY, openSql } from '../src/platform/postgres/sql.ts';
import { createCarrierMediaSocket } from '../src/sockets/carrier-media.ts';
import { railsOf } from '../test/support/cascade-world.ts';
import { startEdge } from '../test/support/edge.ts';
import { createVoiceWorld } from '../test/support/voice-world.ts';
import { openBareEcho } from './bare-echo.ts';
import { twilioStamp } from './frame-stamp.ts';
import { createLateness, timedHandler } from './lateness.ts';
import { MEDIA_PATH, type PhoneHostOrder } from './phone-order.ts';
import { createPromptEngines } from './prompt-engines.ts';
import { searchSteadily } from './search-steadily.ts';

/**
 * A server of telephone calls, in a process of its own, as its order says. The bench asks by message: `lateness`,
 * `forgetLateness`, `searches`.
 */

const CREDIT_RAW = 1_000_000_000n;
const CONNECTIONS = 4;

process.on('disconnect', () => process.exit(0));
favourMedia();

const order = JSON.parse(process.argv[2] ?? '{}') as PhoneHostOrder;
const lateness = createLateness({ ...order, agedMicros: twilioStamp.agedMicros });

const openEngines = () =>
  order.engines === 'prompt'
    ? createPromptEngines(order.calls).engines
    : createLocalEngines({ clock: systemClock, random: systemRandom, log: silentLog });

/** A carrier of which only the media stream is asked for anything. */
const carrier = {
  name: 'twilio',
  openMedia: createTwilioMediaCodec,
  calls: { hangUp: async () => {} },
} as unknown as Carrier;

async function openLive({ calls, target }: PhoneHostOrder): Promise<number> {
  const engines = openEngines();
  const noiseSuppressors = order.engines === 'local' ? await loadNoiseSuppressors() : undefined;
  const {
    deps,
    engines: fakes,
    ledger,
  } = await createVoiceWorld({
    clock: systemClock,
    creditRaw: CREDIT_RAW,
    change: { engines, noiseSuppressors, speechGates: await loadSpeechGates() },
  });
  for (let agentId = 1; agentId <= calls; agentId++) {
    await ledger.credit({ agentId, amountRaw: CREDIT_RAW, reference: `bench ${agentId}` });
  }
  const sql = openSql(target, CONNECTIONS, BY_KEY);
  const asked = { ...fakes, guide: engines.guide, tts: engines.tts };
  const callDeps: CallDeps = {
    ...deps,
    sql,
    turns: createTurnWriter({ ...deps, sql }),
    feed: new CallFeed({ ...deps, sql }),
    askInbound: async () => undefined,
    services: { offered: () => undefined },
    cascades: railsOf(deps.catalogue, { deps, engines: asked as typeof fakes }).cascades,
    takeSession: async () => undefined,
    carrier,
    // Callers of the bench wait for their turn without a sound.
    mediaTimeoutMs: 3_600_000,
    concurrentCalls: { agent: 1_000, account: 1_000 },
    carrierLimitUsd: undefined,
    rateCard: RATE_CARD,
    models: { stt: 'local/pocketsphinx', tts: 'local/flite', llm: 'local/guide' },
    voiceOf: async () => {
      throw new Error('the calls of the bench have their settings');
    },
    openResponder: () => undefined,
    openSound: async () => {
      throw new Error('no sound is played in the bench');
    },
    refusalOf: async () => undefined,
    dialling: { countries: ['US'], callingHours: { from: 0, until: 24 } },
    runTool: async () => {
      throw new Error('no tool is called in the bench');
    },
    enginesOf: () => engines,
    live: new Map(),
    recordingDays: 1,
    // A caller who has hung up gives the recogniser back.
    lineLostMs: 100,
    publicUrl: 'http://127.0.0.1',
  };
  const hooks: CarrierHooks = {
    callback: async () => {
      throw new Error('no callback comes to the bench');
    },
    isGenuineUpgrade: () => true,
    openMedia: () => carrier.openMedia(),
    answerMedia: (start) => answerMedia(callDeps, start),
  };
  const socket = createCarrierMediaSocket(hooks, {
    clock: systemClock,
    publicOrigin: 'http://127.0.0.1',
  });
  const timed: CarrierSocket = {
    ...socket,
    open: async (context) => timedHandler(await socket.open(context), lateness),
  };
  return (await startEdge({ sockets: [order.isTimed ? timed : socket] })).port;
}

const ANSWERS: Readonly<Record<string, () => unknown>> = {
  lateness: lateness.figures,
  forgetLateness: lateness.forget,
  searches: () => searches?.latenciesMs(),
};

process.on('message', (question) => process.send?.(ANSWERS[String(question)]?.()));

const { searchesPerSecond } = order;
const searches =
  searchesPerSecond === undefined ? undefined : await searchSteadily(searchesPerSecond);
const port = await (order.kind === 'bare' ? openBareEcho(MEDIA_PATH, lateness) : openLive(order));
process.send?.({ port });
