import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import OpenAI from 'openai';
import { OpenAIRealtimeWS } from 'openai/realtime/ws';
import type { RealtimeClientEvent, RealtimeServerEvent } from 'openai/resources/realtime/realtime';
import { Agent, type Dispatcher, getGlobalDispatcher, setGlobalDispatcher } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { synthesise } from '../../src/app/commands/demo/sound.ts';
import { selfSigned } from '../support/self-signed.ts';
import { bytesOf } from '../support/voice-fakes.ts';
import { settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const RATE = 24_000;
const FUNDS = 1_000_000n;
const directory = mkdtempSync(join(tmpdir(), 'svc-realtime-tls-'));
const { cert, key } = selfSigned(['127.0.0.1']);

const file = (name: string, text: string): string => {
  const path = join(directory, name);
  writeFileSync(path, text);
  return path;
};

let world: WholeWorld;
let before: Dispatcher;
beforeAll(async () => {
  before = getGlobalDispatcher();
  setGlobalDispatcher(new Agent({ connect: { ca: cert } }));
  world = await startWorld({
    TLS_CERT_FILE: file('cert.pem', cert),
    TLS_KEY_FILE: file('key.pem', key),
  });
});
afterAll(async () => {
  await world[Symbol.asyncDispose]();
  await getGlobalDispatcher().close();
  setGlobalDispatcher(before);
  rmSync(directory, { recursive: true });
});

type Of<T extends RealtimeServerEvent['type']> = Extract<RealtimeServerEvent, { type: T }>;

/** The official client on an encrypted socket, and everything it was told. */
function connect(apiKey: string) {
  const client = new OpenAI({ apiKey, baseURL: `${world.url}/v1` });
  const realtime = new OpenAIRealtimeWS({ model: 'local/realtime', options: { ca: cert } }, client);
  const events: RealtimeServerEvent[] = [];
  const errors: unknown[] = [];
  realtime.on('event', (event) => events.push(event));
  realtime.on('error', (error) => errors.push(error));
  const of = <T extends RealtimeServerEvent['type']>(type: T) =>
    events.filter((event): event is Of<T> => event.type === type);
  return {
    realtime,
    errors,
    of,
    send: (...sent: RealtimeClientEvent[]) => {
      for (const event of sent) realtime.send(event);
    },
    until: (type: RealtimeServerEvent['type'], count = 1) =>
      expect.poll(() => of(type).length, { timeout: 15_000 }).toBe(count),
  };
}

const said = (text: string): RealtimeClientEvent => ({
  type: 'conversation.item.create',
  item: { type: 'message', role: 'user', content: [{ type: 'input_text', text }] },
});

it('the official client holds a text turn, a spoken turn and a function call over TLS, charged to the raw unit', async () => {
  const agent = await world.fund('official', FUNDS);
  const question = await synthesise('What is two plus two?', RATE);
  const { realtime, errors, of, send, until } = connect(agent.agentKey);
  await until('session.created');

  send(
    { type: 'session.update', session: { type: 'realtime', output_modalities: ['text'] } },
    said('What is two plus two?'),
    { type: 'response.create' },
  );
  await until('response.done');
  expect(of('response.output_text.done')[0]?.text).toBe('That is 4.');

  send({
    type: 'session.update',
    session: {
      type: 'realtime',
      output_modalities: ['audio'],
      audio: { input: { turn_detection: null }, output: { format: { type: 'audio/pcmu' } } },
    },
  });
  const audio = Buffer.from(bytesOf(question)).toString('base64');
  send(
    { type: 'input_audio_buffer.append', audio },
    { type: 'input_audio_buffer.commit' },
    { type: 'response.create' },
  );
  await until('response.done', 2);
  expect(of('conversation.item.input_audio_transcription.completed')).toHaveLength(1);
  const sound = of('response.output_audio.delta').map(({ delta }) => Buffer.from(delta, 'base64'));
  // A quarter of a second at the least, one byte a sample.
  expect(Buffer.concat(sound).length).toBeGreaterThan(2_000);
  expect(of('response.done')[1]?.response.usage).toMatchObject({
    input_token_details: { audio_tokens: expect.toSatisfy((tokens) => tokens > 5) },
    output_token_details: { audio_tokens: expect.toSatisfy((tokens) => tokens > 5) },
  });

  const weather = { type: 'function', name: 'weather', description: 'The weather now.' } as const;
  send(
    { type: 'session.update', session: { type: 'realtime', tools: [weather] } },
    said('How is the weather?'),
    { type: 'response.create' },
  );
  await until('response.done', 3);
  const call = of('response.function_call_arguments.done')[0];
  expect(call).toMatchObject({ name: 'weather', arguments: '{}' });
  const output = {
    type: 'function_call_output',
    call_id: call?.call_id ?? '',
    output: 'sunny',
  } as const;
  send({ type: 'conversation.item.create', item: output }, { type: 'response.create' });
  await until('response.done', 4);
  const [last] = of('response.done').at(-1)?.response.output ?? [];
  expect(JSON.stringify(last)).toContain('sunny');
  expect(of('response.done').map(({ response }) => response.status)).toEqual(
    Array(4).fill('completed'),
  );
  expect(errors).toEqual([]);
  realtime.close();

  const money = await settledMoney(world.sql, agent.agentId);
  expect(money.charged).toBeGreaterThan(0n);
  expect(money.spendable).toBe(FUNDS - money.charged);
});
