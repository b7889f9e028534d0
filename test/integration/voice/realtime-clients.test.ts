import {
  OpenAIRealtimeWebSocket,
  RealtimeAgent,
  RealtimeSession,
  tool,
} from '@openai/agents-realtime';
import * as encoder from 'gpt-tokenizer/encoding/cl100k_base';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { answerGuide } from '../../../src/engines/guide/guide-answer.ts';
import { GUIDE_CORPUS } from '../../../src/engines/guide/guide-corpus.ts';
import { createRetriever } from '../../../src/engines/guide/guide-retrieve.ts';
import { systemClock } from '../../../src/kernel/clock.ts';
import { createRealtimeSocket } from '../../../src/protocols/openai-realtime/realtime-socket.ts';
import { type Edge, KEYS, startEdge } from '../../support/edge.ts';
import { RealtimeClient } from '../../support/realtime-client.ts';
import { settled } from '../../support/settled.ts';
import { bytesOf, silence, tone } from '../../support/voice-fakes.ts';
import { createVoiceWorld, type SentEvent } from '../../support/voice-world.ts';

const RATE = 24_000;
const USAGE = { inputTokens: 4, outputTokens: 4 };

let edge: Edge | undefined;
afterEach(() => edge?.[Symbol.asyncDispose]());

async function start() {
  const world = await createVoiceWorld({ clock: systemClock, creditRaw: 1_000_000n });
  edge = await startEdge({ sockets: [createRealtimeSocket(world.deps)] });
  return { ...world, url: `ws://127.0.0.1:${edge.port}/v1/realtime?model=local/realtime` };
}

/** An unmodified agents client, and everything it received. */
async function agentsClient(url: string, agent: RealtimeAgent) {
  const transport = new OpenAIRealtimeWebSocket({ url });
  const session = new RealtimeSession(agent, { transport, model: 'local/realtime' });
  const events: SentEvent[] = [];
  const errors: unknown[] = [];
  session.on('error', (error) => errors.push(error));
  transport.on('*', (event) => events.push(event as SentEvent));
  await session.connect({ apiKey: KEYS.agent });
  const of = (type: string) => events.filter((event) => event.type === type);
  return { session, of, errors };
}

const play = (session: RealtimeSession, pcm: Int16Array) =>
  session.sendAudio(bytesOf(pcm).slice().buffer);

describe('the agents client', () => {
  it("the agents client runs the requested tool, and gets a response with the tool's output", async () => {
    const { url, engines, ledger } = await start();
    engines.guide.answers.push(
      { text: '', toolCall: { name: 'weather', argumentsJson: '{"city":"Bern"}' }, usage: USAGE },
      { text: 'It is sunny in Bern.', usage: USAGE },
    );
    const asked: string[] = [];
    const weather = tool({
      name: 'weather',
      description: 'The weather of a city.',
      parameters: z.object({ city: z.string() }),
      async execute({ city }) {
        asked.push(city);
        return 'sunny';
      },
    });
    const agent = new RealtimeAgent({ name: 'helper', tools: [weather] });
    const { session, of, errors } = await agentsClient(url, agent);
    session.sendMessage('how is the weather in Bern');
    await expect.poll(() => of('response.done').length).toBe(2);

    expect(asked).toEqual(['Bern']);
    expect(engines.guide.asked.at(-1)?.messages.at(-1)).toEqual({ role: 'tool', content: 'sunny' });
    const said = JSON.stringify(session.history);
    expect(said).toContain('It is sunny in Bern.');
    expect(said).toContain('"output":"sunny"');
    expect(of('response.function_call_arguments.done')).toHaveLength(1);
    expect(errors).toEqual([]);
    session.close();
    await settled(ledger);
  });

  it('the agents client gets parseable tool arguments from the local guide model', async () => {
    const { url, engines, ledger } = await start();
    const retriever = createRetriever(GUIDE_CORPUS);
    engines.guide.reply = (request) => answerGuide(request, retriever, encoder);
    const asked: unknown[] = [];
    const weather = tool({
      name: 'get_weather',
      description: 'The weather of a city.',
      parameters: z.object({ city: z.string(), unit: z.enum(['f', 'c']), days: z.number().min(1) }),
      async execute(input) {
        asked.push(input);
        return 'sunny';
      },
    });
    const agent = new RealtimeAgent({ name: 'helper', tools: [weather] });
    const { session, of, errors } = await agentsClient(url, agent);
    session.sendMessage('how is the weather in Bern for 3 days');
    await expect.poll(() => of('response.done').length).toBe(2);
    expect(asked).toEqual([{ city: 'Bern', unit: 'f', days: 3 }]);
    expect(JSON.stringify(session.history)).toContain('The tool answered: sunny.');
    expect(errors).toEqual([]);
    session.close();
    await settled(ledger);
  });

  it('the agents client interrupts a response, which ends there, and the part not heard is dropped', async () => {
    const { url, engines, ledger } = await start();
    engines.guide.answers.push({ text: 'One two three four. Five six seven eight.', usage: USAGE });
    engines.tts.flite.between = () => new Promise(() => {});
    const { session, of, errors } = await agentsClient(url, new RealtimeAgent({ name: 'helper' }));
    const interrupted = new Promise<void>((resolve) =>
      session.on('audio_interrupted', () => resolve()),
    );
    session.sendMessage('count');
    await expect.poll(() => of('response.output_audio.delta').length).toBeGreaterThan(0);

    engines.tts.flite.between = undefined;
    engines.stt.pocketsphinx.script.push('stop');
    play(session, tone(1_000, RATE));
    await interrupted;
    await expect.poll(() => of('conversation.item.truncated').length).toBe(1);
    play(session, silence(1_000, RATE));
    await expect.poll(() => of('response.done').length).toBe(2);
    expect(of('response.done').map(({ response }) => response)).toMatchObject([
      { status: 'cancelled', status_details: { type: 'cancelled', reason: 'turn_detected' } },
      { status: 'completed' },
    ]);
    const known = engines.guide.asked.at(-1)?.messages.map(({ content }) => content);
    expect(known?.at(-1)).toBe('stop');
    expect(known?.join(' ')).not.toContain('four');
    expect(errors).toEqual([]);
    session.close();
    await settled(ledger);
  });
});

describe('a browser', () => {
  it('a browser offers its key among the sub-protocols of a realtime session, and does not get it back', async () => {
    const { url, ledger } = await start();
    const offers = [
      'realtime',
      `openai-insecure-api-key.${KEYS.clientSecret}`,
      'openai-agents-sdk.0.20.0',
    ];
    const client = new RealtimeClient(url, offers);
    await client.until(({ type }) => type === 'conversation.created');
    expect(client.ws.protocol).toBe('realtime');
    client.say({ type: 'response.create' });
    const done = await client.until(({ type }) => type === 'response.done');
    expect(done.response).toMatchObject({ status: 'completed' });
    client.ws.close();
    await client.closed;
    await settled(ledger);
  });
});
