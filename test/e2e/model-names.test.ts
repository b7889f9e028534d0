import OpenAI, { toFile } from 'openai';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FundedAgent } from '../../src/app/commands/demo/fund-agent.ts';
import { bearer } from '../support/edge.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import { ask, startWorld, type WholeWorld } from '../support/whole-world.ts';

/** Nobody sells a model of a name that another maker's has, so that each is known by its name alone. */
const OPENAI_ACCOUNT = (name: string) => (name === 'OPENAI_API_KEY' ? 'sk-server' : undefined);

let world: WholeWorld;
let agent: FundedAgent;
let openai: OpenAI;
beforeAll(async () => {
  world = await startWorld({}, { secret: OPENAI_ACCOUNT });
  agent = await world.fund('caller', 10_000_000n);
  openai = new OpenAI({ apiKey: agent.agentKey, baseURL: `${world.url}/v1`, maxRetries: 0 });
});
afterAll(() => world[Symbol.asyncDispose]());

const messages = [{ role: 'user' as const, content: 'What is two plus two?' }];
const toldBy = ({ headers }: { readonly headers: Headers }) => headers.get('x-svc-model');

async function opened(path: string): Promise<Record<string, unknown>> {
  const client = new RealtimeClient(`${world.wsUrl}${path}`, [], bearer(agent.agentKey));
  const created = await client.until(({ type }) => type === 'session.created', 30_000);
  client.ws.close();
  await client.closed;
  return created.session as Record<string, unknown>;
}

describe.each([
  ['whole', 'local/'],
  ['bare', ''],
])('an answer to a %s name', (_how, maker) => {
  it('a chat response names its model as the catalogue does, whole and in each chunk', async () => {
    const asked = { model: `${maker}guide`, messages };
    const whole = await openai.chat.completions.create(asked).withResponse();
    expect([whole.data.model, toldBy(whole.response)]).toEqual(['local/guide', 'local/guide']);
    const streamed = await openai.chat.completions
      .create({ ...asked, stream: true })
      .withResponse();
    const names = new Set<string>();
    for await (const chunk of streamed.data) names.add(chunk.model);
    expect([[...names], toldBy(streamed.response)]).toEqual([['local/guide'], 'local/guide']);
  });

  it('embeddings, speech and transcripts name their model as the catalogue does', async () => {
    const vectors = await openai.embeddings
      .create({ model: `${maker}use-lite`, input: 'hello' })
      .withResponse();
    expect([vectors.data.model, toldBy(vectors.response)]).toEqual(Array(2).fill('local/use-lite'));
    const speech = { model: `${maker}flite`, voice: 'rms', response_format: 'wav' as const };
    const spoken = await openai.audio.speech.create({ ...speech, input: 'hello' });
    expect(toldBy(spoken)).toBe('local/flite');
    const file = await toFile(await spoken.arrayBuffer(), 'sound.wav');
    const heard = await openai.audio.transcriptions
      .create({ model: `${maker}pocketsphinx`, file })
      .withResponse();
    expect(toldBy(heard.response)).toBe('local/pocketsphinx');
  });

  it('voice sessions name their model as the catalogue does, and so do the other sockets', async () => {
    expect(await opened(`/v1/realtime?model=${maker}realtime`)).toMatchObject({
      model: 'local/realtime',
    });
    const parts = `stt_model=${maker}pocketsphinx&tts_model=${maker}flite`;
    expect(await opened(`/v1/realtime?model=${maker}guide&${parts}`)).toMatchObject({
      model: 'local/guide',
      audio: { input: { transcription: { model: 'local/pocketsphinx' } } },
    });
    const scribe = `/v1/realtime?intent=transcription&model=${maker}pocketsphinx`;
    expect(await opened(scribe)).toMatchObject({
      audio: { input: { transcription: { model: 'local/pocketsphinx' } } },
    });
    for (const path of ['/v1/audio/transcriptions/stream?', '/v1/listen?encoding=linear16&']) {
      const url = `${world.wsUrl}${path}model=${maker}pocketsphinx`;
      const client = new RealtimeClient(url, [], bearer(agent.agentKey));
      await client.opened();
      client.say({ type: 'CloseStream' });
      await client.closed;
      const metadata = client.of('Metadata')[0];
      if (path.startsWith('/v1/listen'))
        expect(JSON.stringify(metadata)).toContain('"local/pocketsphinx"');
    }
  });

  it('the routes for a model and for an estimate name the model as the catalogue does', async () => {
    const described = await openai.models.retrieve(`${maker}guide`);
    expect(described.id).toBe('local/guide');
    const { body } = await ask(`${world.url}/v1/estimate`, {
      headers: bearer(agent.agentKey),
      body: { model: `${maker}guide`, input_tokens: 1_000 },
    });
    expect(body).toMatchObject({ model: 'local/guide' });
  });
});

describe('the models that have a maker elsewhere', () => {
  it('models of other makers can be requested by their bare names, like the local models', async () => {
    for (const name of ['gpt-4o', 'gpt-6-luna', 'gpt-transcribe', 'gpt-realtime-2.1', 'tts-1']) {
      expect((await openai.models.retrieve(name)).id).toBe(`openai/${name}`);
    }
    const unknown = await openai.models.retrieve('gpt-4').catch((error: unknown) => error);
    expect(unknown).toBeInstanceOf(OpenAI.NotFoundError);
  });

  it('every listed model name finds its model again', async () => {
    const { data } = await openai.models.list();
    const bare = data.map(({ id }) => id.slice(id.indexOf('/') + 1));
    expect(new Set(bare).size).toBe(bare.length);
    for (const { id } of data) expect((await openai.models.retrieve(id)).id).toBe(id);
  });
});
