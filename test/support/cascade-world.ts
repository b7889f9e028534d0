import { systemClock } from '../../src/kernel/clock.ts';
import { silentLog } from '../../src/kernel/log.ts';
import { systemRandom } from '../../src/kernel/random.ts';
import { Teardown } from '../../src/kernel/teardown.ts';
import { buildCatalogue } from '../../src/models/catalogue/build-catalogue.ts';
import type {
  ModelEntry,
  ProviderEntry,
  RateTexts,
} from '../../src/models/catalogue/builtin/builtin-model.ts';
import { LOCAL_MODELS } from '../../src/models/catalogue/builtin/local.ts';
import type { Catalogue } from '../../src/models/catalogue/catalogue.ts';
import { createChatRails } from '../../src/models/chat/chat-rails.ts';
import { createSourceRests } from '../../src/models/providers/circuit-breaker.ts';
import { createLocalGuideRail } from '../../src/models/providers/local/local-guide.ts';
import { createLocalSpeechRail } from '../../src/models/providers/local/local-speech.ts';
import { createLocalTranscriptionRail } from '../../src/models/providers/local/local-transcription.ts';
import { createSpeechRails } from '../../src/models/speech/speech-rails.ts';
import { createTranscriptionRails } from '../../src/models/transcription/transcription-rails.ts';
import { MessageQueue } from '../../src/platform/messages/message-queue.ts';
import { createRealtimeSocket } from '../../src/protocols/openai-realtime/realtime-socket.ts';
import { createTurnRails } from '../../src/protocols/realtime-rails.ts';
import type { Cascades } from '../../src/voice/cascade/cascade-deps.ts';
import type { Edge } from './edge.ts';
import type { FakeLedger } from './fake-ledger.ts';
import { liveFront } from './live-front.ts';
import { NO_ENCODERS } from './no-encoders.ts';
import type { RealtimeClient } from './realtime-client.ts';
import { type SpeechUpstream, speechUpstream } from './speech-upstream.ts';
import {
  DONE,
  type StreamUpstream,
  streamUpstream,
  usageEvent,
  wordEvents,
} from './stream-upstream.ts';
import { type TranscriptionUpstream, transcriptionUpstream } from './transcription-upstream.ts';
import { assemblyUpstream, fluxUpstream, type TurnUpstream } from './turn-upstreams.ts';
import { bytesOf, type FakeEngines, silence, tone } from './voice-fakes.ts';
import { createVoiceWorld, type VoiceWorld } from './voice-world.ts';

/** A raw unit a token read, two a token written; the second source is dearer, and takes a tenth more. */
const CHAT: RateTexts = { text_input_token: '1', text_output_token: '2' };
const DEAR_CHAT: RateTexts = { text_input_token: '3', text_output_token: '4' };
/** A raw unit a character, and ten a second heard. */
const SPEECH: RateTexts = { character: '1' };
const HEARING: RateTexts = { audio_second: '10' };
const DEAR_HEARING: RateTexts = { audio_second: '20' };
/** However short it is. */
const BY_REQUEST: RateTexts = { request: '5000' };

export const RATE = 24_000;

export type CascadeWorld = AsyncDisposable & {
  /** The cheaper of the two that serve `acme/chat`. */
  readonly chat: StreamUpstream;
  readonly second: StreamUpstream;
  readonly speech: SpeechUpstream;
  readonly hearing: TranscriptionUpstream;
  /** Upstreams that find the ends of turns. The first is the cheaper of the two that serve `acme/turns`. */
  readonly turns: TurnUpstream;
  readonly otherTurns: TurnUpstream;
  readonly sessions: TurnUpstream;
  readonly ledger: FakeLedger;
  readonly engines: FakeEngines;
  readonly edge: Edge;
  /** By provider; they may change while a session lasts. */
  readonly storedKeys: Record<string, string>;
  /** Providers that were called with a stored key. */
  readonly usedKeys: string[];
  url(query?: Readonly<Record<string, string>>): string;
  connect(
    query?: Readonly<Record<string, string>>,
    headers?: Record<string, string>,
  ): Promise<RealtimeClient>;
};

/** The realtime socket before real peers that chat, speak and listen, on a ledger in memory. */
export async function cascadeWorld({
  creditRaw = 10_000_000n,
  storedKeys = {} as Record<string, string>,
} = {}): Promise<CascadeWorld> {
  const teardown = new Teardown();
  const chat = teardown.use('chat', await streamUpstream());
  const second = teardown.use('second', await streamUpstream());
  const speech = teardown.use('speech', await speechUpstream());
  const hearing = teardown.use('hearing', await transcriptionUpstream());
  const turns = teardown.use('turns', await fluxUpstream());
  const otherTurns = teardown.use('other turns', await fluxUpstream());
  const sessions = teardown.use('sessions', await assemblyUpstream());
  speech.sound = Buffer.from(bytesOf(tone(300, RATE)));
  speech.contentType = 'audio/pcm';
  for (const peer of [chat, second]) peer.play({ pieces: answer(['Good day. ', 'All is well.']) });
  const providers = new Map<string, ProviderEntry>([
    ['local', { baseUrl: null, dialect: 'local' }],
    ['chat', { baseUrl: chat.baseUrl, dialect: 'openai' }],
    ['second', { baseUrl: second.baseUrl, dialect: 'openai' }],
    ['speech', { baseUrl: speech.baseUrl, dialect: 'openai' }],
    ['hearing', { baseUrl: hearing.baseUrl, dialect: 'openai' }],
    ['turns', { baseUrl: turns.baseUrl, dialect: 'deepgram', apiKeyEnv: 'TURNS' }],
    ['other-turns', { baseUrl: otherTurns.baseUrl, dialect: 'deepgram', apiKeyEnv: 'TURNS' }],
    [
      'sessions',
      {
        baseUrl: sessions.baseUrl.replace(/\/v1$/, '/v3'),
        dialect: 'assemblyai',
        apiKeyEnv: 'TURNS',
      },
    ],
    // Those that take keys of others.
    ['keyed', { baseUrl: chat.baseUrl, dialect: 'openai', apiKeyEnv: 'KEYED' }],
    ['keyed-voice', { baseUrl: speech.baseUrl, dialect: 'openai', apiKeyEnv: 'VOICE' }],
    ['other-voice', { baseUrl: speech.baseUrl, dialect: 'openai', apiKeyEnv: 'VOICE' }],
    ['shut', { baseUrl: chat.baseUrl, dialect: 'openai', apiKeyEnv: 'SHUT' }],
    ['shut-ears', { baseUrl: hearing.baseUrl, dialect: 'openai', apiKeyEnv: 'SHUT' }],
  ]);
  const catalogue = buildCatalogue({ providers, models: MODELS, secret });
  const { deps, engines, ledger } = await createVoiceWorld({
    clock: systemClock,
    creditRaw,
    change: { catalogue },
  });
  const usedKeys: string[] = [];
  const providerKeys: Cascades['providerKeys'] = {
    find: async (_, provider) => storedKeys[provider],
    noteUse: async (_, provider) => void usedKeys.push(provider),
  };
  const { cascades, close } = railsOf(catalogue, { deps, engines }, providerKeys);
  teardown.defer('rails', close);
  const front = await liveFront(teardown, {
    sockets: [createRealtimeSocket(deps, undefined, cascades)],
  });
  const url = (query: Readonly<Record<string, string>> = {}) =>
    front.at(`/v1/realtime?${new URLSearchParams({ model: 'acme/chat', ...query })}`);
  return {
    ...front,
    chat,
    second,
    speech,
    hearing,
    ledger,
    engines,
    url,
    storedKeys,
    usedKeys,
    turns,
    otherTurns,
    sessions,
    connect: (query, headers) => front.connect(url(query), headers),
  };
}

/** What an upstream streams of an answer, with what it used. */
export const answer = (
  words: readonly string[],
  [prompt_tokens, completion_tokens]: readonly [number, number] = [20, 8],
): string[] => [
  ...wordEvents(words),
  usageEvent({ prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens }),
  DONE,
];

/** An account that has stored none. */
export const NO_KEYS: Cascades['providerKeys'] = {
  find: async () => undefined,
  noteUse: async () => {},
};

/** The real rails of a catalogue, with engines that need no model behind the local ones. */
export function railsOf(
  catalogue: Catalogue,
  { deps, engines }: Pick<VoiceWorld, 'deps' | 'engines'>,
  providerKeys = NO_KEYS,
): { readonly cascades: Cascades; readonly close: () => Promise<void> } {
  const shared = { catalogue, clock: systemClock, random: systemRandom, log: silentLog };
  const { callerFacts } = deps;
  const localGuide = createLocalGuideRail({ ...shared, guide: engines.guide, callerFacts });
  const chat = createChatRails({ ...shared, localGuide });
  const localSpeech = createLocalSpeechRail({
    engine: engines.tts.flite,
    encoding: NO_ENCODERS,
  });
  const speech = createSpeechRails({ ...shared, local: localSpeech, encoding: NO_ENCODERS });
  const local = createLocalTranscriptionRail({ engines, gates: undefined });
  const hearing = createTranscriptionRails({ ...shared, local });
  const turns = createTurnRails({ ...shared, line: new MessageQueue(systemClock) });
  return {
    cascades: { chat, speech, hearing, turns, breaker: createSourceRests(shared), providerKeys },
    async close() {
      for (const rails of [chat, speech, hearing, turns]) await rails[Symbol.asyncDispose]();
    },
  };
}

const secret = (name: string) => (name === 'SHUT' ? undefined : 'sk-server');

const source = (provider: string, rates: RateTexts, marginBps = 0) => ({
  rail: 'direct-account' as const,
  provider,
  upstreamModel: `${provider}-1`,
  rates,
  marginBps,
});

const MODELS: ModelEntry[] = [
  ...LOCAL_MODELS,
  {
    id: 'acme/chat',
    modality: 'text',
    maxOutputTokens: 1_000,
    sources: [source('chat', CHAT), source('second', DEAR_CHAT, 1_000)],
  },
  { id: 'acme/say', modality: 'tts', sources: [source('speech', SPEECH)] },
  { id: 'other/say', modality: 'tts', sources: [source('speech', SPEECH)] },
  { id: 'acme/orator', modality: 'tts', sources: [source('speech', BY_REQUEST)] },
  { id: 'other/orator', modality: 'tts', sources: [source('speech', BY_REQUEST)] },
  { id: 'keyed/chat', modality: 'text', sources: [source('keyed', CHAT)] },
  { id: 'keyed/say', modality: 'tts', sources: [source('keyed-voice', SPEECH)] },
  {
    id: 'keyed/choir',
    modality: 'tts',
    sources: [source('keyed-voice', SPEECH), source('other-voice', SPEECH)],
  },
  {
    id: 'acme/shared',
    modality: 'text',
    sources: [source('keyed', CHAT), source('keyed-voice', CHAT)],
  },
  { id: 'shut/chat', modality: 'text', sources: [source('shut', CHAT)] },
  { id: 'shut/scribe', modality: 'stt', sources: [source('shut-ears', HEARING)] },
  { id: 'acme/clerk', modality: 'stt', sources: [source('hearing', BY_REQUEST)] },
  { id: 'acme/hear', modality: 'stt', sources: [source('hearing', HEARING)] },
  {
    id: 'acme/turns',
    modality: 'stt',
    sources: [
      { ...source('turns', HEARING), upstreamModel: 'flux-general-en' },
      { ...source('other-turns', DEAR_HEARING), upstreamModel: 'flux-general-en' },
    ],
  },
  {
    id: 'acme/sessions',
    modality: 'stt',
    sources: [{ ...source('sessions', HEARING), upstreamModel: 'universal-streaming-english' }],
  },
  {
    id: 'acme/talker',
    modality: 'realtime',
    sources: [],
    cascade: { stt: 'acme/hear', llm: 'acme/chat', tts: 'acme/say' },
  },
];

/** Says something that a client typed, and asks for an answer. */
export function say(client: RealtimeClient, text: string): void {
  const content = [{ type: 'input_text', text }];
  client.say({
    type: 'conversation.item.create',
    item: { type: 'message', role: 'user', content },
  });
  client.say({ type: 'response.create' });
}

/** Speaks for a second, and is silent for another. */
export const speak = (client: RealtimeClient): void =>
  hear(client, [tone(1_000, RATE), silence(1_000, RATE)]);

/** Sends sound, faster than it would be spoken. */
export function hear(client: RealtimeClient, sounds: readonly Int16Array[]): void {
  for (const pcm of sounds) {
    const audio = Buffer.from(bytesOf(pcm)).toString('base64');
    client.say({ type: 'input_audio_buffer.append', audio });
  }
}
