import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { encodeWav } from '../../media/wav.ts';
import { synthesise } from '../../src/app/commands/demo/sound.ts';
import type { Json } from '../../src/kernel/json.ts';
import {
  type CapturedRequest,
  clientCapture,
  eventsIn,
  replay,
} from '../support/client-capture.ts';
import { RealtimeClient } from '../support/realtime-client.ts';
import { bytesOf, silence } from '../support/voice-fakes.ts';
import { settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

/** What LiveKit's plugins sent, as recorded: `test/vectors/clients/README.md` says how. */
type Upload = {
  readonly path: string;
  readonly form?: Readonly<Record<string, string>>;
  readonly file: { readonly name?: string; readonly type: string };
};
type Socket = {
  readonly path: string;
  readonly scheme: string;
  /** `sound` stands where the plugin sends what is said. */
  readonly sent: readonly (Json | 'sound')[];
};
const capture = JSON.parse(
  readFileSync(new URL('../vectors/clients/livekit.json', import.meta.url), 'utf8'),
) as { uploads: [Upload, Upload]; sockets: Readonly<Record<string, Socket>> };
const [CHAT, CHAT_TOOL, RESPONSE, RESPONSE_TOOL, SPEECH] = clientCapture('livekit') as [
  CapturedRequest,
  CapturedRequest,
  CapturedRequest,
  CapturedRequest,
  CapturedRequest,
];
const SAID = 'What is my balance?';

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

async function opened(name: string) {
  const { agentId, agentKey: apiKey } = await world.fund(`livekit ${name}`);
  return {
    apiKey,
    ask: (request: CapturedRequest) =>
      replay(request, { baseUrl: world.url, apiKey, model: String(request.body.model) }),
    async paid() {
      const money = await settledMoney(world.sql, agentId);
      expect(money.charged).toBeGreaterThan(0n);
      expect(money.spendable).toBe(money.credited - money.charged);
    },
  };
}

const joined = (values: readonly unknown[]) => values.map((value) => value ?? '').join('');

describe("LiveKit's OpenAI plugin", () => {
  it("LiveKit's OpenAI plugin chats, and calls its tool", async () => {
    const { ask, paid } = await opened('chat');
    const deltasIn = async (request: CapturedRequest) => {
      const response = await ask(request);
      const text = await response.text();
      expect(text.trimEnd()).toMatch(/data: \[DONE\]$/);
      const events = text.match(/^data: \{.*$/gm)?.map((line) => JSON.parse(line.slice(6))) ?? [];
      expect(events.some(({ usage }) => usage?.total_tokens > 0)).toBe(true);
      return events.flatMap(({ choices: [choice] }) => choice?.delta ?? []) as Json[];
    };
    const words = await deltasIn(CHAT);
    expect(joined(words.map(({ content }) => content))).toBe('That is 5.');
    const calls = (await deltasIn(CHAT_TOOL)).flatMap((delta) => delta.tool_calls ?? []);
    expect(calls[0]).toMatchObject({ function: { name: 'weather' } });
    const args = calls.map((call) => (call as { function: Json }).function.arguments);
    expect(JSON.parse(joined(args))).toEqual({ city: 'Rome' });
    await paid();
  });

  it("LiveKit's OpenAI plugin uses the Responses API, and calls its tool there", async () => {
    const { ask, paid } = await opened('responses');
    expect((await eventsIn(await ask(RESPONSE))).at(-1)).toMatchObject({
      type: 'response.completed',
      response: { output: [{ type: 'message', content: [{ text: 'That is 5.' }] }] },
    });
    expect((await eventsIn(await ask(RESPONSE_TOOL))).at(-1)).toMatchObject({
      response: { output: [{ type: 'function_call', arguments: '{"city":"Rome"}' }] },
    });
    await paid();
  });

  it("LiveKit's OpenAI plugin synthesizes speech, and transcribes a recording", async () => {
    const { apiKey, ask, paid } = await opened('sound');
    const spoken = await ask(SPEECH);
    expect(spoken.status).toBe(200);
    // Half a second of samples at 24 kHz, two bytes each, at the least.
    expect((await spoken.arrayBuffer()).byteLength).toBeGreaterThan(24_000);
    const [{ file, form, path }] = capture.uploads;
    const body = new FormData();
    for (const [name, value] of Object.entries(form ?? {})) body.append(name, value);
    const wav = encodeWav(await synthesise(SAID, 16_000), 16_000);
    body.append('file', new Blob([wav], { type: file.type }), file.name);
    const headers = { authorization: `Bearer ${apiKey}` };
    const heard = await fetch(world.url + path, { method: 'POST', headers, body });
    expect(await heard.json()).toMatchObject({ text: expect.stringMatching(/balance/i) });
    await paid();
  });
});

it("LiveKit's Deepgram plugin transcribes a recording", async () => {
  const { apiKey, paid } = await opened('listen file');
  const [, { file, path }] = capture.uploads;
  const heard = await fetch(world.url + path, {
    method: 'POST',
    headers: { authorization: `Token ${apiKey}`, 'content-type': file.type },
    body: encodeWav(await synthesise(SAID, 16_000), 16_000),
  });
  const channel = { alternatives: [{ transcript: expect.stringMatching(/balance/i) }] };
  expect(await heard.json()).toMatchObject({ results: { channels: [channel] } });
  await paid();
});

/** Opens a captured socket and sends what the plugin sent; sound goes out at the pace of a speaker. */
async function play(name: string, apiKey: string) {
  const { path, scheme, sent } = capture.sockets[name] as Socket;
  const client = new RealtimeClient(world.wsUrl + path, [], {
    authorization: `${scheme} ${apiKey}`,
  });
  await client.opened();
  for (const message of sent) {
    if (message === 'sound') await speak(client, path.includes('realtime'));
    else client.say(message);
  }
  return client;
}

async function speak(client: RealtimeClient, isRealtime: boolean): Promise<void> {
  const rate = isRealtime ? 24_000 : 16_000;
  const pcm = await synthesise(SAID, rate);
  const said = new Int16Array([...pcm, ...silence(2_000, rate)]);
  await client.stream(bytesOf(said), {
    bytesPerSecond: 2 * rate,
    send(chunk) {
      if (!isRealtime) client.ws.send(chunk);
      else {
        const audio = Buffer.from(chunk).toString('base64');
        client.say({ type: 'input_audio_buffer.append', audio });
      }
    },
  });
}

describe("a socket of LiveKit's plugins", () => {
  it("LiveKit's Deepgram plugin transcribes live speech, and ends on request", async () => {
    const { apiKey, paid } = await opened('listen');
    const client = await play('listen', apiKey);
    expect((await client.closed).code).toBe(1000);
    const finals = client.of('Results').filter((event) => event.is_final === true);
    expect(JSON.stringify(finals)).toMatch(/balance/i);
    await paid();
  });

  it("LiveKit's Deepgram plugin detects turns", async () => {
    const { apiKey, paid } = await opened('turns');
    const client = await play('turns', apiKey);
    await client.closed;
    const ends = client.of('TurnInfo').filter(({ event }) => event === 'EndOfTurn');
    expect(JSON.stringify(ends)).toMatch(/balance/i);
    await paid();
  });

  it("LiveKit's Deepgram plugin synthesizes speech, and reports the end", async () => {
    const { apiKey, paid } = await opened('speak');
    const client = await play('speak', apiKey);
    expect((await client.closed).code).toBe(1000);
    expect(client.types()).toEqual(['Metadata', 'Flushed', 'Flushed']);
    const bytes = client.binaries.reduce((sum, { length }) => sum + length, 0);
    expect(bytes).toBeGreaterThan(2 * 24_000);
    await paid();
  });

  it("LiveKit's OpenAI plugin transcribes live speech", async () => {
    const { apiKey, paid } = await opened('transcription');
    const client = await play('transcription', apiKey);
    const ended = 'conversation.item.input_audio_transcription.completed';
    const { transcript } = await client.until(({ type }) => type === ended, 30_000);
    expect(transcript).toMatch(/balance/i);
    client.ws.close();
    await paid();
  });

  it("LiveKit's OpenAI plugin holds a realtime conversation, and gets text and audio", async () => {
    const { apiKey, paid } = await opened('realtime');
    const client = await play('realtime', apiKey);
    await client.until(({ type }) => type === 'response.done', 30_000);
    expect(client.of('error')).toEqual([]);
    const [said] = client.of('response.output_audio_transcript.done');
    expect(said?.transcript).toBe('That is 5.');
    expect(client.of('response.output_audio.delta').length).toBeGreaterThan(0);
    client.ws.close();
    await paid();
  });
});
