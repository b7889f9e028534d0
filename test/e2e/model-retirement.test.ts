import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WebSocket } from 'ws';
import { encodeWav } from '../../media/wav.ts';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { isoTime, systemClock } from '../../src/kernel/clock.ts';
import { bearer } from '../support/edge.ts';
import { listenUpstream } from '../support/listen-upstream.ts';
import { logLines } from '../support/log-lines.ts';
import { openAiUpstream } from '../support/openai-upstream.ts';
import { realtimeUpstream } from '../support/realtime-upstream.ts';
import { noise, sends, speechUpstream } from '../support/speech-upstream.ts';
import { DONE, streamUpstream, usageEvent, wordEvents } from '../support/stream-upstream.ts';
import { jsonAnswer, transcriptionUpstream } from '../support/transcription-upstream.ts';
import { ask, newDeveloper, startWorld, type WholeWorld } from '../support/whole-world.ts';

const peers = {
  whole: await openAiUpstream(),
  streams: await streamUpstream(),
  speech: await speechUpstream(),
  hearing: await transcriptionUpstream(),
  realtime: await realtimeUpstream(),
  listen: await listenUpstream(),
};
// What each of its answers is worth is what a word can be worth: a source that tells of more rests.
peers.whole.usage = { prompt_tokens: 4, completion_tokens: 2, total_tokens: 6 };
const directory = mkdtempSync(join(tmpdir(), 'svc-retiring-'));
const said = logLines();

const DAY_MS = 24 * 60 * 60 * 1_000;
const dayIn = (days: number) => isoTime(systemClock.now() + days * DAY_MS).slice(0, 10);
const SHUTDOWN = dayIn(40);
/** What every answer of a retiring model says. */
const SAID = {
  sunset: new Date(`${SHUTDOWN}T00:00:00Z`).toUTCString(),
  deprecation: `@${Date.parse(`${dayIn(0)}T00:00:00Z`) / 1_000}`,
  link: '</v1/models/acme%2Fnew>; rel="successor-version"',
};

const TOKENS = { text_input_token: '1', text_output_token: '1' };
const SOUND = { audio_input_token: '1', audio_output_token: '1' };

function catalogue(): string {
  const model = (id: string, modality: string, provider: string, rates: object, more = {}) => ({
    id,
    modality,
    ...more,
    sources: [{ rail: 'direct-account', provider, upstreamModel: 'm', rates }],
  });
  const retiring = { shutdownDate: SHUTDOWN, successor: 'acme/new' };
  const at = (baseUrl: string) => ({ baseUrl, dialect: 'openai' });
  const file = {
    providers: {
      whole: at(peers.whole.baseUrl),
      streams: at(peers.streams.baseUrl),
      speech: at(peers.speech.baseUrl),
      hearing: at(peers.hearing.baseUrl),
      openai: { ...at(peers.whole.baseUrl), apiKeyEnv: 'OPENAI_API_KEY' },
      'openai-realtime': {
        baseUrl: peers.realtime.baseUrl,
        dialect: 'openai-realtime',
        apiKeyEnv: 'OPENAI_API_KEY',
        vendor: 'openai',
      },
      listen: { baseUrl: peers.listen.baseUrl, dialect: 'deepgram', apiKeyEnv: 'LISTEN_KEY' },
    },
    models: [
      model('acme/gone', 'text', 'whole', TOKENS, { shutdownDate: dayIn(-1) }),
      model('acme/old', 'text', 'whole', TOKENS, retiring),
      model('acme/old-stream', 'text', 'streams', TOKENS, retiring),
      model('acme/old-vectors', 'embedding', 'whole', { text_input_token: '1' }, retiring),
      model('acme/old-voice', 'tts', 'speech', { character: '1' }, retiring),
      model('acme/old-ears', 'stt', 'hearing', { audio_second: '1' }, retiring),
      model('acme/old-listener', 'stt', 'listen', { audio_second: '1' }, retiring),
      model('acme/old-talk', 'realtime', 'openai-realtime', { ...TOKENS, ...SOUND }, retiring),
      model('acme/new', 'text', 'whole', TOKENS),
    ],
  };
  const path = join(directory, 'catalogue.json');
  writeFileSync(path, JSON.stringify(file));
  return path;
}

let world: WholeWorld;
let agent: FundedAgent;
let openai: OpenAI;
beforeAll(async () => {
  const keys: Record<string, string> = { OPENAI_API_KEY: 'sk-server', LISTEN_KEY: 'other' };
  const secret = (name: string) => keys[name];
  world = await startWorld({ CATALOG_FILE: catalogue() }, { secret, log: said.log });
  agent = await world.fund('caller', 10_000_000n);
  openai = new OpenAI({ apiKey: agent.agentKey, baseURL: `${world.url}/v1`, maxRetries: 0 });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  for (const peer of Object.values(peers)) await peer[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const toldBy = (headers: Headers) =>
  Object.fromEntries(Object.keys(SAID).map((name) => [name, headers.get(name)]));

/** The headers of an accepted upgrade. */
async function upgradeOf(path: string): Promise<Record<string, unknown>> {
  const socket = new WebSocket(`${world.wsUrl}${path}`, { headers: bearer(agent.agentKey) });
  try {
    const headers = await new Promise<Record<string, unknown>>((resolve, reject) => {
      socket.once('upgrade', (response) => resolve(response.headers));
      socket.once('error', reject);
    });
    return Object.fromEntries(Object.keys(SAID).map((name) => [name, headers[name]]));
  } finally {
    socket.terminate();
  }
}

const messages = [{ role: 'user' as const, content: 'hello' }];

describe('a model that its vendor shuts down', () => {
  it('a model with a shutdown date announces the date in whole and streamed responses, and other models do not', async () => {
    const old = { model: 'acme/old', messages };
    const whole = await openai.chat.completions.create(old).withResponse();
    expect(toldBy(whole.response.headers)).toEqual(SAID);
    const exposed = whole.response.headers.get('access-control-expose-headers')?.split(', ');
    expect(exposed).toEqual(expect.arrayContaining(Object.keys(SAID)));

    peers.streams.play({ pieces: [...wordEvents(['hello']), usageEvent(), DONE] });
    const streamed = await openai.chat.completions
      .create({ model: 'acme/old-stream', messages, stream: true })
      .withResponse();
    expect(toldBy(streamed.response.headers)).toEqual(SAID);
    for await (const _ of streamed.data);

    const living = await openai.chat.completions
      .create({ model: 'acme/new', messages })
      .withResponse();
    expect(toldBy(living.response.headers)).toEqual({
      sunset: null,
      deprecation: null,
      link: null,
    });
  });

  it("a model with a shutdown date announces it with an upstream's refusal, with embeddings, speech and transcripts", async () => {
    peers.whole.faults.push({ kind: 'status', status: 422, body: { error: { message: 'no' } } });
    const refused = await fetch(`${world.url}/v1/chat/completions`, {
      method: 'POST',
      headers: bearer(agent.agentKey),
      body: JSON.stringify({ model: 'acme/old', messages }),
    });
    expect([refused.status, toldBy(refused.headers)]).toEqual([422, SAID]);

    // With a key that came along, where any model of a provider can be asked for.
    const own = { 'x-svc-provider-key': 'sk-own' };
    const relayed = await fetch(`${world.url}/v1/llm/chat/completions`, {
      method: 'POST',
      headers: { ...bearer(agent.agentKey), ...own },
      body: JSON.stringify({ model: 'gpt-4o', messages }),
    });
    expect([relayed.status, relayed.headers.get('sunset')]).toEqual([
      200,
      'Thu, 14 Jan 2027 00:00:00 GMT',
    ]);

    const vectors = { model: 'acme/old-vectors', input: 'four' };
    const embedded = await openai.embeddings.create(vectors).withResponse();
    expect(toldBy(embedded.response.headers)).toEqual(SAID);

    peers.speech.plays.push(sends(noise(64), 'audio/mpeg'));
    const speech = { model: 'acme/old-voice', voice: 'alloy', input: 'hello' };
    const spoken = await openai.audio.speech.create(speech);
    expect(toldBy(spoken.headers)).toEqual(SAID);

    peers.hearing.script.push(jsonAnswer({ text: 'hello', duration: 1 }));
    const file = await toFile(encodeWav(new Int16Array(16_000), 16_000), 'sound.wav');
    const heard = await openai.audio.transcriptions
      .create({ model: 'acme/old-ears', file })
      .withResponse();
    expect(toldBy(heard.response.headers)).toEqual(SAID);
  });

  it('a model with a shutdown date announces it in the upgrade of its sockets, alone and as a part of a session', async () => {
    expect(await upgradeOf('/v1/realtime?model=acme/old-talk')).toEqual(SAID);
    const listening = '/v1/listen?encoding=linear16&model=acme/old-listener';
    expect(await upgradeOf(listening)).toEqual(SAID);
    const streaming = '/v1/audio/transcriptions/stream?model=acme/old-listener';
    expect(await upgradeOf(streaming)).toEqual(SAID);
    const spoken = '/v1/realtime?model=acme/new&tts_model=acme/old-voice';
    expect(await upgradeOf(spoken)).toEqual(SAID);
    expect(await upgradeOf('/v1/realtime?model=local/realtime')).toEqual({});
  });

  it('a model with a shutdown date is listed with date and successor, and after all others once the date has passed', async () => {
    const { data } = await openai.models.list();
    const listed = new Map(data.map((model) => [model.id, model]));
    const told = { shutdown_date: SHUTDOWN, successor: 'acme/new' };
    expect(listed.get('acme/old')).toMatchObject(told);
    expect(listed.get('acme/new')).toMatchObject({ shutdown_date: null });
    expect(data.at(-1)?.id).toBe('acme/gone');
    expect(data.at(-2)?.id).not.toBe('acme/gone');
    expect(await openai.models.retrieve('acme/old')).toMatchObject(told);
    const priced = await fetch(`${world.url}/v1/models/acme%2Fold?include=pricing`, {
      headers: bearer(agent.agentKey),
    });
    expect(await priced.json()).toMatchObject({ ...told, pricing: { certainty: 'list' } });
    // The vendor decides, and as long as it answers the model is served.
    const gone = await openai.chat.completions
      .create({ model: 'acme/gone', messages })
      .withResponse();
    expect(gone.response.headers.get('sunset')).toBe(
      new Date(`${dayIn(-1)}T00:00:00Z`).toUTCString(),
    );
  });

  it('a model with a shutdown date is named in one log line at the start, with its date and its successor', () => {
    const lines = said.lines.filter(({ msg }) => /shut these models down/.test(String(msg)));
    expect(lines).toHaveLength(1);
    expect(lines[0]?.retiring).toMatchObject({
      'acme/gone': `${dayIn(-1)} -> no successor`,
      'acme/old': `${SHUTDOWN} -> acme/new`,
    });
  });
});

describe('one key of a vendor', () => {
  it("one key of a vendor opens the vendor's chat and realtime sessions, stored or in the header", async () => {
    const developer = await newDeveloper(world.api, 'vendor');
    const agentId = await developer.createAgent('talker');
    const { key } = await developer.mintKey(agentId);
    await ask(`${world.url}/v1/admin/agents/${agentId}/credit`, {
      headers: bearer(world.adminApiKey),
      body: { amountRaw: '1000000', reference: 'vendor' },
    });
    const keys = `${world.url}/v1/developer/provider-keys`;
    const stored = await ask(`${keys}/openai`, {
      method: 'PUT',
      headers: developer.headers,
      body: { key: 'sk-of-the-developer' },
    });
    expect(stored.status).toBe(200);
    const { supportedProviders } = (await ask(keys, developer)).body;
    expect(supportedProviders).toContain('openai');
    expect(supportedProviders).not.toContain('openai-realtime');

    const before = peers.realtime.peers.length;
    for (const headers of [
      bearer(key),
      { ...bearer(agent.agentKey), 'x-svc-provider-key': 'sk-of-the-developer' },
    ]) {
      const url = `${world.wsUrl}/v1/realtime?model=acme/old-talk`;
      const socket = new WebSocket(url, { headers });
      await new Promise((resolve, reject) => {
        socket.once('open', resolve);
        socket.once('error', reject);
      });
      socket.terminate();
    }
    const opened = peers.realtime.peers.slice(before).map(({ headers }) => headers.authorization);
    expect(opened).toEqual(['Bearer sk-of-the-developer', 'Bearer sk-of-the-developer']);
  });
});
