import { describe, expect, it } from 'vitest';
import { cascadeStage } from '../../support/cascade-steps.ts';
import { type CascadeWorld, speak } from '../../support/cascade-world.ts';
import { bearer, KEYS } from '../../support/edge.ts';
import { RealtimeClient } from '../../support/realtime-client.ts';
import { settled } from '../../support/settled.ts';
import { jsonAnswer } from '../../support/transcription-upstream.ts';
import { AGENT } from '../../support/voice-world.ts';
import { refusal } from '../../support/web-socket-client.ts';

const { start } = cascadeStage();

const COMPLETED = 'conversation.item.input_audio_transcription.completed';
const urlOf = ({ edge }: CascadeWorld, query: string) =>
  `ws://127.0.0.1:${edge.port}/v1/realtime?${query}`;

async function connect(
  world: CascadeWorld,
  query: string,
  more: Readonly<Record<string, string>> = {},
): Promise<RealtimeClient> {
  const headers = { ...bearer(KEYS.agent), ...more };
  const client = new RealtimeClient(urlOf(world, query), [], headers);
  await client.opened();
  await client.until(({ type }) => type === 'session.created');
  return client;
}

async function heard(client: RealtimeClient): Promise<unknown> {
  speak(client);
  return (await client.until(({ type }) => type === COMPLETED)).transcript;
}

const transcriberOf = (event: Readonly<Record<string, unknown>>): unknown =>
  (event.session as { audio: { input: { transcription: { model: string } } } }).audio.input
    .transcription.model;

const SERVER_VAD = {
  type: 'server_vad',
  threshold: 0.5,
  prefix_padding_ms: 600,
  silence_duration_ms: 350,
};
const LIVEKIT_AGENT = { 'user-agent': 'LiveKit Agents' };

/** The headers and the first message of its streaming transcriber for this protocol, field by field. */
const LIVEKIT: [
  version: string,
  headers: Record<string, string>,
  update: (model: string) => Readonly<Record<string, unknown>>,
  names: string[],
][] = [
  [
    'beta',
    { ...LIVEKIT_AGENT, 'openai-beta': 'realtime=v1' },
    (model) => ({
      type: 'transcription_session.update',
      session: {
        input_audio_format: 'pcm16',
        input_audio_transcription: { model, prompt: '', language: 'en' },
        turn_detection: SERVER_VAD,
        input_audio_noise_reduction: { type: 'near_field' },
      },
    }),
    ['hear', 'acme/hear'],
  ],
  [
    'present version',
    LIVEKIT_AGENT,
    (model) => ({
      type: 'session.update',
      session: {
        type: 'transcription',
        audio: {
          input: {
            format: { type: 'audio/pcm', rate: 24_000 },
            transcription: { model, language: 'en' },
            turn_detection: SERVER_VAD,
            noise_reduction: { type: 'near_field' },
          },
        },
      },
    }),
    ['hear', 'acme/hear'],
  ],
];

describe('a realtime session that only transcribes', () => {
  it.each(LIVEKIT)(
    'a transcription-only realtime session opens without a model, and uses the one that the update of LiveKit’s %s names',
    async (_version, more, update, names) => {
      for (const name of names) {
        const world = await start();
        world.hearing.script.push(
          jsonAnswer({ text: 'good morning', usage: { type: 'duration', seconds: 2 } }),
        );
        const client = await connect(world, 'intent=transcription', more);
        client.say(update(name));
        const updated = await client.until(({ type }) => type === 'session.updated');
        expect(transcriberOf(updated)).toBe('acme/hear');
        expect(await heard(client)).toBe('good morning');
        expect(client.of('error')).toEqual([]);
        expect(world.hearing.seen[0]?.form.get('model')).toBe('hearing-1');
        expect(world.hearing.seen[0]?.form.get('language')).toBe('en');
        expect(client.of('response.created')).toEqual([]);
        client.ws.close();
        await settled(world.ledger);
        expect(world.ledger.charges.map(({ model, costRaw }) => [model, costRaw])).toEqual([
          ['acme/hear', 20n],
        ]);
        await world[Symbol.asyncDispose]();
      }
    },
  );

  it('a transcription-only realtime session uses a model of its update that only a stored key can buy', async () => {
    const world = await start({ storedKeys: { 'shut-ears': 'sk-own' } });
    const client = await connect(world, 'intent=transcription');
    const transcription = { model: 'scribe' };
    const update = { type: 'session.update', session: { audio: { input: { transcription } } } };
    client.say(update);
    const updated = await client.until(({ type }) => type === 'session.updated');
    expect(transcriberOf(updated)).toBe('shut/scribe');
    expect(await heard(client)).toBe('as told');
    expect(world.usedKeys).toEqual(['shut-ears']);
    client.ws.close();
    await settled(world.ledger);
    expect(world.ledger.charges.map(({ model, rail }) => [model, rail])).toContainEqual([
      'shut/scribe',
      'byok',
    ]);

    delete world.storedKeys['shut-ears'];
    const without = await connect(world, 'intent=transcription');
    without.say(update);
    const passedOver = await without.until(({ type }) => type === 'session.updated');
    expect(transcriberOf(passedOver)).toBe('local/pocketsphinx');
    without.ws.close();
    await settled(world.ledger);
  });

  it.each([
    ['the recogniser of this process where no model is named', 'intent=transcription'],
    ['the recogniser that the handshake names', 'intent=transcription&model=local/pocketsphinx'],
    ['its bare name', 'intent=transcription&model=pocketsphinx'],
  ])('a transcription-only realtime session uses %s', async (_who, query) => {
    const world = await start();
    const client = await connect(world, query);
    expect(transcriberOf(client.of('session.created')[0] ?? {})).toBe('local/pocketsphinx');
    expect(await heard(client)).toEqual(expect.any(String));
    client.ws.close();
    await settled(world.ledger);
    expect(world.ledger.charges[0]).toMatchObject({ model: 'local/pocketsphinx' });
    expect(world.ledger.consumedRaw(AGENT)).toBeGreaterThan(0n);
  });

  it('a transcription-only realtime session holds money for its transcriber alone', async () => {
    // Two minutes of sound at ten raw units a second, and nothing of an answer.
    const world = await start({ creditRaw: 1_200n });
    const client = await connect(world, 'intent=transcription&model=acme/hear');
    client.ws.close();
    await settled(world.ledger);
    const poor = await start({ creditRaw: 100n });
    const { status } = await refusal(
      urlOf(poor, 'intent=transcription&model=acme/hear'),
      [],
      bearer(KEYS.agent),
    );
    expect(status).toBe(402);
    await world[Symbol.asyncDispose]();
  });

  it('a transcription-only realtime session lists the valid models when the named one cannot transcribe', async () => {
    const world = await start();
    const { body, status } = await refusal(
      urlOf(world, 'intent=transcription&model=acme/chat'),
      [],
      bearer(KEYS.agent),
    );
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('local/pocketsphinx');
  });
});
