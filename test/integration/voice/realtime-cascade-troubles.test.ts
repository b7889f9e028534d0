import { describe, expect, it } from 'vitest';
import { isObject } from '../../../src/kernel/json.ts';
import { cascadeStage, done, VOICES } from '../../support/cascade-steps.ts';
import { answer, hear, RATE, say, speak } from '../../support/cascade-world.ts';
import { bearer, KEYS } from '../../support/edge.ts';
import { answers, breaksAfter } from '../../support/speech-upstream.ts';
import {
  callEvent,
  DONE,
  finishEvent,
  textEvent,
  usageEvent,
  wordEvents,
} from '../../support/stream-upstream.ts';
import { jsonAnswer } from '../../support/transcription-upstream.ts';
import { bytesOf, tone } from '../../support/voice-fakes.ts';
import { refusal } from '../../support/web-socket-client.ts';

const stage = cascadeStage();
const { leave, start } = stage;

const QUOTA = { type: 'insufficient_quota', code: 'budget_exhausted' };

const codeOf = ({ error }: Readonly<Record<string, unknown>>) => isObject(error) && error.code;

describe('a realtime session of several models in trouble', () => {
  it('a cascade session fails a response whose model breaks off, charges the part received, and goes on', async () => {
    const { chat, connect } = await start();
    chat.play({ pieces: [textEvent('Once upon a time. There')], ends: 'cut', everyMs: 20 });
    const client = await connect();
    say(client, 'tell me');
    const turn = await done(client);
    expect(turn).toMatchObject({
      status: 'failed',
      status_details: { error: { code: 'upstream_broke_off' } },
    });
    expect(Number(turn.metadata.cost_raw)).toBeGreaterThan(0);
    chat.play({ pieces: answer(['Here again.']) });
    client.say({ type: 'response.create' });
    expect(await done(client, 2)).toMatchObject({ status: 'completed' });
    await leave(client);
  });

  it.each<[string, string]>([
    ['reports an error', `data: ${JSON.stringify({ error: { message: 'overloaded' } })}\n\n`],
    ['reports an error as text', 'data: {"error":"overloaded"}\n\n'],
    ['ends with an error', finishEvent('error')],
  ])(
    'a cascade session fails a response whose model %s, even if the stream ends normally',
    async (_, event) => {
      const { chat, connect } = await start();
      chat.play({ pieces: [textEvent('Good day. '), event, textEvent('And so'), DONE] });
      const client = await connect();
      say(client, 'hello');
      expect(await done(client)).toMatchObject({
        status: 'failed',
        status_details: { error: { code: 'upstream_broke_off' } },
      });
      await leave(client);
    },
  );

  it('a cascade session stops an endless response of tool calls, and charges no more than its hold', async () => {
    const { chat, connect } = await start();
    const whole = { name: 'look', arguments: JSON.stringify({ at: 'y'.repeat(10_000) }) };
    const pieces = Array.from({ length: 2_000 }, (_, i) => callEvent(i, whole, { id: `c${i}` }));
    chat.play({ pieces: [...pieces, DONE] });
    const client = await connect();
    say(client, 'look around');
    const turn = await done(client);
    expect(turn).toMatchObject({
      status: 'incomplete',
      status_details: { reason: 'max_output_tokens' },
      // Three tokens read, and the thousand that the model may write at two each.
      metadata: { cost_raw: '2003' },
    });
    await expect.poll(() => chat.abandoned.count).toBe(1);
    await leave(client);
  });

  it('a cascade session reports a filtered response, and charges the part received', async () => {
    const { chat, connect } = await start();
    chat.play({ pieces: [textEvent('Well. '), finishEvent('content_filter'), DONE] });
    const client = await connect();
    say(client, 'tell me');
    const turn = await done(client);
    expect(turn).toMatchObject({
      status: 'incomplete',
      status_details: { reason: 'content_filter' },
    });
    expect(Number(turn.metadata.cost_raw)).toBeGreaterThan(0);
    await leave(client);
  });

  it('a cascade session makes no tool call whose arguments were cut, and reports the response as cut', async () => {
    const { chat, connect } = await start();
    const pay = callEvent(0, { name: 'pay', arguments: '{"amount": 1' }, { id: 'call_1' });
    chat.play({ pieces: [pay, finishEvent('length'), usageEvent(), DONE] });
    const client = await connect();
    say(client, 'pay 1000');
    expect(await done(client)).toMatchObject({
      status: 'incomplete',
      status_details: { reason: 'max_output_tokens' },
      output: [],
    });
    expect(client.of('response.function_call_arguments.done')).toEqual([]);
    await leave(client);
  });

  it('a cascade session tries the next source, at its price, when one fails before its first word', async () => {
    const { chat, connect, second } = await start();
    chat.play({ status: 500, headers: { 'content-type': 'application/json' }, pieces: ['{}'] });
    const client = await connect();
    client.say({ type: 'session.update', session: { output_modalities: ['text'] } });
    say(client, 'hello');
    const turn = await done(client);
    expect(turn.status).toBe('completed');
    expect([chat.seen.length, second.seen.length]).toEqual([1, 1]);
    // 92 raw, and a tenth.
    expect(turn.metadata.cost_raw).toBe(String(Math.ceil((3 * 20 + 4 * 8) * 1.1)));
    await leave(client);
  });

  it('a cascade session charges nothing for a response that no source gives', async () => {
    const { chat, connect, second } = await start();
    for (const peer of [chat, second]) {
      peer.play({ status: 503, headers: { 'content-type': 'application/json' }, pieces: ['{}'] });
    }
    const client = await connect();
    say(client, 'hello');
    const turn = await done(client);
    expect(turn).toMatchObject({
      status: 'failed',
      status_details: { error: { code: 'all_sources_failed' } },
      metadata: { cost_raw: '0' },
    });
    expect(await leave(client)).toBe(0n);
  });

  it('a cascade session estimates usage that an upstream does not report, and marks it as estimated', async () => {
    const { chat, connect, ledger } = await start();
    chat.play({ pieces: [...wordEvents(['Twelve chars']), DONE] });
    const client = await connect();
    client.say({ type: 'session.update', session: { output_modalities: ['text'] } });
    say(client, 'four');
    const turn = await done(client);
    expect(turn.metadata.cost_raw).toBe(String(1 + 2 * 3));
    await leave(client);
    expect(ledger.charges[0]?.usage).toMatchObject({ estimated: 1, text_output_token: 3 });
  });

  it.each([
    ['refuses', () => answers(500)],
    ['breaks off', () => breaksAfter(Buffer.from(bytesOf(tone(300, RATE))))],
  ])(
    'a cascade session fails a response whose speech model %s, and still charges its LLM',
    async (_, play) => {
      const { connect, speech } = await start();
      speech.plays.push(play());
      const client = await connect({ tts_model: 'acme/say' });
      say(client, 'hello');
      const turn = await done(client);
      expect(turn.status).toBe('failed');
      expect(Number(turn.metadata.cost_raw)).toBeGreaterThanOrEqual(20);
      say(client, 'again');
      expect(await done(client, 2)).toMatchObject({ status: 'completed' });
      await leave(client);
    },
  );

  it('a cascade session reports speech that could not be transcribed, charges nothing for it, and goes on', async () => {
    const { chat, connect, hearing } = await start();
    hearing.script.push(jsonAnswer({}, 500));
    const client = await connect(VOICES);
    speak(client);
    const failed = 'conversation.item.input_audio_transcription.failed';
    await client.until(({ type }) => type === failed);
    expect(chat.seen).toEqual([]);
    speak(client);
    const turn = await done(client);
    expect(turn.status).toBe('completed');
    await leave(client);
  });

  it.each([
    ['an unknown model', { model: 'acme/nobody' }, 404, 'model_not_found'],
    ['a model that neither writes nor is live', { model: 'acme/say' }, 400, 'invalid_request'],
    ['a voice that is no speech model', { tts_model: 'acme/hear' }, 400, 'invalid_request'],
    ['an unknown transcriber', { stt_model: 'acme/nobody' }, 404, 'model_not_found'],
    [
      'a transcriber that needs a grammar',
      { stt_model: 'local/grammar' },
      503,
      'no_source_available',
    ],
    [
      'a part for a model that needs none',
      { model: 'local/realtime', tts_model: 'acme/say' },
      400,
      'invalid_request',
    ],
  ])('a cascade session refuses %s before anything is held', async (_, query, status, code) => {
    const { ledger, url } = await start();
    const refused = await refusal(url(query), [], bearer(KEYS.agent));
    expect(refused.status).toBe(status);
    expect(refused.body.error).toMatchObject({ code });
    expect(ledger.openHolds()).toBe(0);
  });

  it('a cascade session is refused when the balance does not cover one turn of all three models, before any source is called', async () => {
    const { chat, ledger, url } = await start({ creditRaw: 20_000n });
    const refused = await refusal(url(VOICES), [], bearer(KEYS.agent));
    expect([refused.status, refused.body.error]).toMatchObject([402, { code: 'budget_exhausted' }]);
    expect([chat.seen.length, ledger.openHolds()]).toEqual([0, 0]);
  });

  it('a cascade session transcribes no utterance that could not be paid, and bills all that were sent', async () => {
    const { chat, connect, hearing } = await start({ creditRaw: 120_000n });
    chat.play({ pieces: [textEvent('Hm. ')], ends: 'hang' });
    const client = await connect({ stt_model: 'acme/clerk' });
    const session = { output_modalities: ['text'], audio: { input: { turn_detection: null } } };
    client.say({ type: 'session.update', session });
    say(client, 'hello');
    await client.until(({ type }) => type === 'response.output_text.delta');
    const refusal = () => client.of('error').find((event) => codeOf(event) === 'budget_exhausted');
    for (let i = 0; i < 40; i++) {
      hear(client, [tone(100, RATE)]);
      client.say({ type: 'input_audio_buffer.commit' });
    }
    await expect.poll(refusal, { timeout: 10_000 }).toMatchObject({ error: QUOTA });
    client.say({ type: 'response.cancel' });
    const turn = await done(client);
    expect(hearing.seen.length).toBeGreaterThan(1);
    expect(Number(turn.metadata.cost_raw)).toBeGreaterThanOrEqual(5_000 * hearing.seen.length);
    await leave(client);
  });

  it('a cascade session fails a response whose next sentence cannot be paid, and bills the sentences spoken', async () => {
    const { chat, connect, speech } = await start({ creditRaw: 80_000n });
    const words = Array.from({ length: 40 }, (_, i) => `This is the long sentence number ${i}. `);
    chat.play({ pieces: answer(words) });
    const client = await connect({ tts_model: 'acme/orator' });
    say(client, 'hello');
    const turn = await done(client);
    expect(turn).toMatchObject({ status: 'failed', status_details: { error: QUOTA } });
    expect(speech.seen.length).toBeGreaterThan(1);
    expect(Math.floor(Number(turn.metadata.cost_raw) / 5_000)).toBe(speech.seen.length);
    await leave(client);
  });
});
