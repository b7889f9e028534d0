import { assert } from '../../src/kernel/assert.ts';
import type { Source } from '../../src/models/catalogue/catalogue.ts';
import type { DialectChoice } from '../../src/protocols/create-transcription.ts';
import {
  openTranscribed,
  type TranscriptionParts,
} from '../../src/protocols/create-transcription.ts';
import { takeRecogniser } from '../../src/protocols/take-engine.ts';
import { openSessionHold, sessionPrice } from '../../src/voice/billing/session-hold.ts';
import type { VoiceDeps } from '../../src/voice/live/voice-deps.ts';
import type { TranscriptionStream } from '../../src/voice/transcription/transcription-stream.ts';
import { FakeRelayClient, FakeUpstream } from './fake-upstream.ts';
import { ManualClock } from './manual-clock.ts';
import { bytesOf } from './voice-fakes.ts';
import { AGENT, createVoiceWorld, FakeSocket, settleAll } from './voice-world.ts';

export const RATE = 16_000;

export const PLAIN: DialectChoice = { kind: 'plain' };
/** Deepgram's, with interim results. */
export const LISTEN: DialectChoice = {
  kind: 'listen',
  parameters: {
    interimResults: true,
    endpointingMs: 300,
    utteranceEndMs: undefined,
    vadEvents: false,
    punctuated: false,
  },
  stream: {
    requestId: 'req_1',
    created: '2026-01-01T00:00:00.000Z',
    model: { id: 'acme/ears', arch: 'ears', version: 'acme' },
  },
};

type Change = {
  readonly creditRaw?: bigint;
  readonly dialect?: DialectChoice;
  readonly change?: Partial<VoiceDeps>;
  readonly open?: (deps: VoiceDeps, parts: TranscriptionParts) => TranscriptionStream;
};

/** A stream heard by a recogniser of this process, over fakes and a clock that stands still, with a client to speak for. */
export async function openLocalStream({
  creditRaw = 1_000_000n,
  dialect = PLAIN,
  change = {},
  open = openTranscribed,
}: Change = {}) {
  const clock = new ManualClock();
  const world = await createVoiceWorld({ clock, creditRaw, change });
  const { deps, engines } = world;
  const source = deps.catalogue.find('local/pocketsphinx')?.sources[0];
  assert(source !== undefined, 'the catalogue has the local recogniser');
  const recogniser = await takeRecogniser(engines.stt.pocketsphinx, {});
  const stream = open(deps, {
    ...(await paidFor(deps, 'local/pocketsphinx', source)),
    dialect,
    heardBy: { kind: 'recogniser', recogniser },
  });
  const socket = new FakeSocket();
  stream.attach(socket);

  /** Real-time pace, 100 ms at a time. */
  async function send(pcm: Int16Array) {
    for (let at = 0; at < pcm.length; at += RATE / 10) {
      stream.audio(bytesOf(pcm.slice(at, at + RATE / 10)));
      clock.advance(100);
      await settleAll();
    }
  }
  const price = (seconds: number) => sessionPrice(source, { audio_second: seconds });
  return { ...world, clock, stream, socket, send, price };
}

/** Ten raw units a second. */
const UPSTREAM_SOURCE: Source = {
  rail: 'direct-account',
  provider: 'deepgram',
  upstreamModel: 'nova-3',
  marginBps: 0,
  rates: { audio_second: 10_000_000n },
};

/** A stream heard by an upstream without a network, whose client takes what it says as it is. */
export async function openUpstreamStream({
  creditRaw = 100_000n,
  dialect = PLAIN,
  change = {},
  open = openTranscribed,
  isOwnKey = false,
  upstream = new FakeUpstream(),
}: Change & { readonly isOwnKey?: boolean; readonly upstream?: FakeUpstream } = {}) {
  const clock = new ManualClock();
  const world = await createVoiceWorld({ clock, creditRaw, change });
  const source: Source = isOwnKey ? { ...UPSTREAM_SOURCE, rail: 'byok' } : UPSTREAM_SOURCE;
  const stream = open(world.deps, {
    ...(await paidFor(world.deps, 'deepgram/nova-3', source)),
    dialect,
    heardBy: { kind: 'upstream', upstream },
  });
  const client = new FakeRelayClient();
  stream.attach(client);
  const words = () => upstream.sent.filter((text) => text.startsWith('{'));
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(Math.min(1_000, ms - passed));
      await settleAll();
    }
  };
  return { ...world, clock, client, pass, stream, upstream, words };
}

/** What a stream is made of beside who hears it, with its first slice held. */
async function paidFor(deps: VoiceDeps, model: string, source: Source) {
  const spender = { agentId: AGENT, keyId: 70 };
  const owner = { spender, sessionId: 'stt_test', kind: 'transcription', model, source } as const;
  const opened = await openSessionHold(deps, owner, sessionPrice(source, { audio_second: 10 }));
  assert(opened.kind === 'opened', 'the first slice fits');
  return {
    owner,
    sessionHold: opened.sessionHold,
    encoding: 'linear16',
    sampleRateHz: RATE,
  } as const;
}
