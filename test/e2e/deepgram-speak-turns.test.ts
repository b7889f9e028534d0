import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseWav } from '../../media/wav.ts';
import { uuidOf } from '../../src/kernel/ids.ts';
import { speakWithDeepgram } from '../support/deepgram-client.ts';
import { deepgramAt, refusedWith } from '../support/deepgram-rest-client.ts';
import { refusal } from '../support/web-socket-client.ts';
import { settledMoney, startWorld, type WholeWorld } from '../support/whole-world.ts';

const MODEL = 'local/flite';

let world: WholeWorld;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world[Symbol.asyncDispose]());

/** What the ledger has of an agent, in raw USDC and in characters. */
async function paid(agentId: number) {
  const money = await settledMoney(world.sql, agentId);
  expect(money.spendable).toBe(money.credited - money.charged);
  // A sentence that an interruption has stopped before any sound came of it has a line as well, which costs nothing.
  const rows = await world.sql<{ usage: { character: number } }[]>`
    select usage from charges where agent_id = ${agentId} and status = 'success'`;
  return {
    cost_usdc: String(money.charged),
    characters: rows.reduce((sum, { usage }) => sum + usage.character, 0),
  };
}

async function open(name: string, args: Record<string, unknown> = {}) {
  const agent = await world.fund(name);
  const target = { wsUrl: world.wsUrl, apiKey: agent.agentKey };
  const speaker = await speakWithDeepgram(target, { model: MODEL, ...args });
  await expect.poll(() => speaker.of('Connected').length).toBe(1);
  return { agent, ...speaker };
}

describe("Deepgram's own client against the socket of /v2/speak", () => {
  it("Deepgram's client on the /v2/speak socket gets two turns, each with its own report, and pays for their characters", async () => {
    const { agent, closed, connection, errors, events, of, sound } = await open('turns', {
      encoding: 'linear16',
      sample_rate: '16000',
      speed: 1.1,
      tag: 'test',
    });
    expect(events[0]).toMatchObject({
      type: 'Connected',
      model_name: MODEL,
      model_uuids: [uuidOf(MODEL)],
      request_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    });
    for (const text of ['Good morning. How are you?', 'I am well.']) {
      connection.sendSpeak({ type: 'Speak', text });
      connection.sendFlush({ type: 'Flush' });
    }
    await expect.poll(() => of('SpeechMetadata').length, { timeout: 20_000 }).toBe(2);
    expect(of('Flushed')).toHaveLength(2);
    const soundMs = of('SpeechMetadata').reduce(
      (sum, one) => sum + Number(one.audio_duration_ms),
      0,
    );
    expect(sound.bytes / 32).toBeGreaterThan(1_000);
    expect(Math.abs(sound.bytes / 32 - soundMs)).toBeLessThan(2);
    connection.sendClose({ type: 'Close' });
    expect((await closed).code).toBe(1000);
    const { characters, cost_usdc } = await paid(agent.agentId);
    expect(events.at(-1)).toMatchObject({
      type: 'SessionMetadata',
      total_billable_character_count: characters,
      cost_usdc,
    });
    expect([characters, errors]).toEqual([35, []]);
  });

  it("Deepgram's client on the /v2/speak socket can interrupt, is told the part heard, and pays for no later sentence", async () => {
    const { agent, closed, connection, of, sound } = await open('interrupter');
    const text = 'This is a sentence of some length, which is spoken. '.repeat(30);
    connection.sendSpeak({ type: 'Speak', text });
    await expect.poll(() => sound.bytes, { timeout: 20_000 }).toBeGreaterThan(0);
    const playback_offset = { type: 'time_ms', value: 150 } as const;
    connection.sendInterrupt({ type: 'Interrupt', playback_offset });
    await expect.poll(() => of('SpeechInterrupted').length).toBe(1);
    const [interrupted] = of('SpeechInterrupted');
    expect(interrupted).toMatchObject({ audio_played_ms: 150 });
    expect(`${interrupted?.text_spoken}${interrupted?.text_remaining}`).toBe(text);
    connection.sendClose({ type: 'Close' });
    expect((await closed).code).toBe(1000);
    const { characters, cost_usdc } = await paid(agent.agentId);
    expect(characters).toBeLessThan(text.length);
    expect(interrupted?.metadata).toMatchObject({
      billable_character_count: characters,
      input_character_count: text.length,
      cost_usdc,
    });
  });

  it("Deepgram's client on the /v2/speak socket changes its speed within the range, and no further", async () => {
    const { closed, connection, of } = await open('changer');
    connection.sendConfigure({ type: 'Configure', speed: 1.25 });
    await expect.poll(() => of('ConfigureSuccess')).toMatchObject([{ applied: { speed: 1.25 } }]);
    connection.sendConfigure({ type: 'Configure', speed: 3 });
    await expect
      .poll(() => of('ConfigureFailure'))
      .toMatchObject([{ code: 'SPEED_OUT_OF_RANGE', field: 'speed', value: 3 }]);
    connection.sendClose({ type: 'Close' });
    expect((await closed).code).toBe(1000);
  });

  it("Deepgram's client on the /v2/speak socket is refused for an unknown model, and without a key", async () => {
    const { agentKey } = await world.fund('stranger');
    const authorization = `Token ${agentKey}`;
    const url = `${world.wsUrl}/v2/speak?model=flux-nobody-en`;
    expect(await refusal(url, [], { authorization })).toMatchObject({
      status: 404,
      body: { err_code: 'NOT_FOUND', error: 'model_not_found' },
    });
    expect(await refusal(`${world.wsUrl}/v2/speak?model=${MODEL}`, [])).toMatchObject({
      status: 401,
      body: { err_code: 'INVALID_AUTH' },
    });
  });
});

describe("Deepgram's own client against POST /v2/speak", () => {
  const TEXT = 'The weather is fine today.';
  const start = async (name: string) => {
    const agent = await world.fund(name);
    return { agent, audio: deepgramAt({ url: world.url, apiKey: agent.agentKey }).speak.v2.audio };
  };

  it("Deepgram's client on POST /v2/speak gets audio with the vendor's headers and our receipt, charged by its characters", async () => {
    const { agent, audio } = await start('reader');
    const { data, rawResponse } = await audio
      .generate({ text: TEXT, model: MODEL, encoding: 'linear16', sample_rate: 44_100, speed: 0.9 })
      .withRawResponse();
    const { headers } = rawResponse;
    expect(headers.get('dg-model-name')).toBe(MODEL);
    expect(headers.get('dg-char-count')).toBe(String(TEXT.length));
    const wav = parseWav(new Uint8Array(await data.arrayBuffer()));
    expect(wav).toMatchObject({ kind: 'parsed', coding: 'linear16', sampleRateHz: 44_100 });
    expect(await paid(agent.agentId)).toEqual({
      cost_usdc: headers.get('x-svc-cost-usdc'),
      characters: TEXT.length,
    });
  });

  it.each([
    [{ model: 'flux-nobody-en' }, 404, 'NOT_FOUND'],
    [{ model: '' }, 400, 'Bad Request'],
    [{ speed: 1.6 }, 400, 'Bad Request'],
    [{ expressivity: 2 }, 400, 'Bad Request'],
    [{ callback: 'https://a.example' }, 400, 'Bad Request'],
    [{ sample_rate: 11_025, encoding: 'linear16' }, 400, 'Bad Request'],
    [{ text: 'x'.repeat(4_097) }, 400, 'Bad Request'],
  ] as const)(
    'POST /v2/speak refuses an invalid option and charges nothing (%#)',
    async (wish, statusCode, err_code) => {
      const { agent, audio } = await start(`refused ${Object.keys(wish)[0]} ${statusCode}`);
      const refused = await refusedWith(audio.generate({ text: TEXT, model: MODEL, ...wish }));
      expect(refused).toMatchObject({ statusCode, body: { err_code } });
      expect(await paid(agent.agentId)).toMatchObject({ characters: 0 });
    },
  );
});
