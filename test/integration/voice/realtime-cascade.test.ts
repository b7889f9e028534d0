import { describe, expect, it } from 'vitest';
import { cascadeStage, done, VOICES } from '../../support/cascade-steps.ts';
import { answer, hear, RATE, say, speak } from '../../support/cascade-world.ts';
import { settled } from '../../support/settled.ts';
import { hangsAfter } from '../../support/speech-upstream.ts';
import { policyOf } from '../../support/spending.ts';
import { DONE, textEvent, toolCallEvents } from '../../support/stream-upstream.ts';
import { jsonAnswer } from '../../support/transcription-upstream.ts';
import { bytesOf, silence, tone } from '../../support/voice-fakes.ts';

const stage = cascadeStage();
const { leave, start } = stage;

describe('a realtime session of several models', () => {
  it('a cascade session answers speech with an upstream’s transcriber, LLM and TTS, and charges each of them', async () => {
    const { chat, connect, hearing, speech } = await start();
    hearing.script.push(
      jsonAnswer({ text: 'how are you', usage: { type: 'duration', seconds: 2 } }),
    );
    const client = await connect(VOICES);
    const created = await client.until(({ type }) => type === 'session.created');
    expect(created.session).toMatchObject({
      model: 'acme/chat',
      audio: { input: { transcription: { model: 'acme/hear' } }, output: { voice: 'alloy' } },
    });
    speak(client);
    const turn = await done(client);

    expect(turn.status).toBe('completed');
    expect(turn.output[0]?.content?.[0]?.transcript).toBe('Good day. All is well.');
    expect(hearing.seen[0]?.form.get('model')).toBe('hearing-1');
    expect(chat.seen[0]).toMatchObject({
      model: 'chat-1',
      stream: true,
      max_tokens: 1_000,
      messages: [{ role: 'user', content: 'how are you' }],
    });
    expect(speech.seen.map(({ body }) => body)).toMatchObject([
      { model: 'speech-1', input: 'Good day.', voice: 'alloy', response_format: 'pcm' },
      { model: 'speech-1', input: 'All is well.' },
    ]);
    // 2 s heard, 20 tokens read and 8 written, 9 and 12 characters spoken.
    expect(turn.metadata.cost_raw).toBe(String(20 + 20 + 2 * 8 + 9 + 12));
    // Sound is text to a chat model, and no source here bills it by tokens.
    expect(turn.usage).toMatchObject({
      total_tokens: 28,
      input_tokens: 20,
      output_tokens: 8,
      input_token_details: { text_tokens: 20, audio_tokens: 0 },
      output_token_details: { text_tokens: 8, audio_tokens: 0 },
    });
    const types = client.types().filter((type, index, all) => type !== all[index - 1]);
    expect(types.slice(types.indexOf('response.created'))).toEqual([
      'response.created',
      'rate_limits.updated',
      'response.output_item.added',
      'conversation.item.added',
      'response.content_part.added',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.output_audio_transcript.delta',
      'response.output_audio.delta',
      'response.output_audio.done',
      'response.output_audio_transcript.done',
      'response.content_part.done',
      'response.output_item.done',
      'conversation.item.done',
      'response.done',
    ]);
    const sound = client
      .of('response.output_audio.delta')
      .map(({ delta }) => Buffer.from(String(delta), 'base64'));
    const sentence = Buffer.from(bytesOf(tone(300, RATE)));
    expect(Buffer.concat(sound).equals(Buffer.concat([sentence, sentence]))).toBe(true);
    await leave(client);
  });

  it('a cascade session speaks as soon as its first sentence is complete, while the rest is still being written', async () => {
    const { chat, connect } = await start();
    chat.play({ pieces: [textEvent('First of all. '), textEvent('And')], ends: 'hang' });
    const client = await connect({ tts_model: 'acme/say' });
    say(client, 'hello');
    await client.until(({ type }) => type === 'response.output_audio.delta');
    expect(client.of('response.output_audio_transcript.delta').map(({ delta }) => delta)).toEqual([
      'First of all.',
    ]);
    client.say({ type: 'response.cancel' });
    await done(client);
    await leave(client);
  });

  it('a cascade session writes text as it comes, and uses the local engines when no other models are named', async () => {
    const { chat, connect, engines } = await start();
    const client = await connect();
    client.say({
      type: 'session.update',
      session: { output_modalities: ['text'], instructions: 'Be kind.' },
    });
    say(client, 'hello');
    const turn = await done(client);
    expect(client.of('response.output_text.delta').map(({ delta }) => delta)).toEqual([
      'Good day. ',
      'All is well.',
    ]);
    expect(turn.metadata.cost_raw).toBe(String(20 + 2 * 8));
    expect(turn.usage).toMatchObject({ input_tokens: 20, output_tokens: 8 });

    engines.stt.pocketsphinx.script.push('and you');
    client.say({ type: 'session.update', session: { output_modalities: ['audio'] } });
    speak(client);
    await done(client, 2);
    expect(chat.seen[1]?.messages).toEqual([
      { role: 'system', content: 'Be kind.' },
      { role: 'user', content: 'hello' },
      { role: 'assistant', content: 'Good day. All is well.' },
      { role: 'user', content: 'and you' },
    ]);
    expect(engines.tts.flite.spoken).toEqual(['Good day.', 'All is well.']);
    await leave(client);
  });

  it('a cascade session calls a tool and answers with its output', async () => {
    const { chat, connect } = await start();
    const call = {
      id: 'call_abc',
      type: 'function',
      function: { name: 'weather', arguments: '{"city":"Bern"}' },
    };
    chat.play(({ messages }) => ({
      pieces:
        (messages as object[]).length > 1 ? answer(['Sunny.']) : [...toolCallEvents(call), DONE],
    }));
    const client = await connect();
    const tool = {
      type: 'function',
      name: 'weather',
      description: 'Tells it.',
      parameters: { type: 'object' },
    };
    client.say({ type: 'session.update', session: { tools: [tool], tool_choice: 'auto' } });
    say(client, 'What is the weather?');
    await done(client);
    const item = client.of('response.output_item.done')[0]?.item;
    expect(item).toMatchObject({
      type: 'function_call',
      status: 'completed',
      name: 'weather',
      call_id: 'call_abc',
      arguments: '{"city":"Bern"}',
    });
    expect(chat.seen[0]).toMatchObject({
      tool_choice: 'auto',
      tools: [{ type: 'function', function: { name: 'weather', description: 'Tells it.' } }],
    });
    client.say({
      type: 'conversation.item.create',
      item: { type: 'function_call_output', call_id: 'call_abc', output: 'sunny' },
    });
    client.say({ type: 'response.create' });
    const turn = await done(client, 2);
    expect(turn.output[0]?.content?.[0]?.transcript).toBe('Sunny.');
    expect(chat.seen[1]?.messages).toEqual([
      { role: 'user', content: 'What is the weather?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_abc', content: 'sunny' },
    ]);
    await leave(client);
  });

  it('a cascade session speaks the text before a tool call, and sends the call after that', async () => {
    const { chat, connect } = await start();
    const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } };
    chat.play({ pieces: [textEvent('One moment'), ...toolCallEvents(call), DONE] });
    const client = await connect();
    const tool = { type: 'function', name: 'look', parameters: {} };
    client.say({ type: 'session.update', session: { tools: [tool] } });
    say(client, 'look');
    const turn = await done(client);
    expect(turn.output).toMatchObject([
      { type: 'message', content: [{ transcript: 'One moment' }] },
      { type: 'function_call', name: 'look', arguments: '{}' },
    ]);
    const indexes = client.of('response.output_item.done').map((event) => event.output_index);
    expect(indexes).toEqual([0, 1]);
    await leave(client);
  });

  it('a cascade session stops buying at once when the caller interrupts, and charges what was produced', async () => {
    const { chat, connect, ledger, speech } = await start();
    chat.play({
      pieces: [textEvent('One two three. '), textEvent('Four five six. ')],
      ends: 'hang',
    });
    speech.plays.push(hangsAfterPcm());
    const client = await connect({ tts_model: 'acme/say' });
    const detection = { type: 'server_vad', create_response: false };
    const session = { audio: { input: { turn_detection: detection } } };
    client.say({ type: 'session.update', session });
    say(client, 'count');
    await client.until(({ type }) => type === 'response.output_audio.delta');
    speak(client);
    const turn = await done(client);
    expect(turn).toMatchObject({
      status: 'cancelled',
      status_details: { reason: 'turn_detected' },
    });
    await expect.poll(() => chat.abandoned.count).toBe(1);
    await expect.poll(() => speech.abandoned.count).toBe(1);
    expect(speech.seen).toHaveLength(1);
    // "count" is 2 tokens, 15 or 30 characters written are 4 or 8, and one sentence was spoken.
    const spoken = 'One two three.'.length;
    expect(Number(turn.metadata.cost_raw)).toBeGreaterThanOrEqual(2 + 2 * 4 + spoken);
    expect(Number(turn.metadata.cost_raw)).toBeLessThanOrEqual(2 + 2 * 8 + spoken);
    client.ws.close();
    await settled(ledger);
    // What the local engine heard stands beside it, under its own maker.
    expect(ledger.charges.map(({ targetHost }) => targetHost).sort()).toEqual(['acme', 'local']);
  });

  it('a cascade session transcribes with the model that its update names, once a hold covers that model', async () => {
    const { chat, connect, engines, hearing } = await start();
    const client = await connect();
    const hears = (model: string) =>
      client.say({
        type: 'session.update',
        session: { audio: { input: { transcription: { model } } } },
      });
    hears('acme/none');
    const error = await client.until(({ type }) => type === 'error');
    expect(error.error).toMatchObject({ param: 'session.audio.input.transcription.model' });
    client.say({
      type: 'response.create',
      event_id: 'mine',
      response: { audio: { input: { transcription: { model: 'acme/none' } } } },
    });
    const param = 'response.audio.input.transcription.model';
    await expect
      .poll(() => client.of('error')[1]?.error)
      .toMatchObject({ code: 'invalid_value', param, event_id: 'mine' });
    expect(client.of('response.created')).toEqual([]);
    hears('gpt-4o-mini-transcribe');
    hears('acme/hear');
    speak(client);
    await done(client);
    expect(chat.seen[0]?.messages).toEqual([{ role: 'user', content: 'as told' }]);
    expect([hearing.seen.length, engines.stt.pocketsphinx.opened]).toEqual([1, 0]);
    const shown = client.of('session.updated').map(({ session }) => session);
    expect(shown).toMatchObject([
      { audio: { input: { transcription: { model: 'local/pocketsphinx' } } } },
      { audio: { input: { transcription: { model: 'acme/hear' } } } },
    ]);
    await leave(client);
  });

  it('a cascade session passes the expected language and words to the transcriber, and rejects unsupported ones', async () => {
    const { connect, hearing } = await start();
    const client = await connect();
    const expects = (transcription: object) =>
      client.say({ type: 'session.update', session: { audio: { input: { transcription } } } });
    expects({ language: 'de' });
    const error = await client.until(({ type }) => type === 'error');
    expect(error.error).toMatchObject({
      code: 'invalid_value',
      param: 'session.audio.input.transcription.language',
      message: expect.stringContaining('English only'),
    });
    const expected = { model: 'acme/hear', language: 'de', prompt: 'Frau Müller' };
    expects(expected);
    const updated = await client.until(({ type }) => type === 'session.updated');
    expect(updated.session).toMatchObject({ audio: { input: { transcription: expected } } });
    speak(client);
    await done(client);
    expects({ language: 'fr', prompt: null });
    speak(client);
    await done(client, 2);
    const sent = hearing.seen.map(({ form }) => [form.get('language'), form.get('prompt')]);
    expect(sent).toEqual([
      ['de', 'Frau Müller'],
      ['fr', null],
    ]);
    await leave(client);
  });

  describe('with speculation', () => {
    const EAGER = { type: 'server_vad', silence_duration_ms: 600, speculate_after_ms: 200 };

    async function startEager(words: readonly string[]) {
      await start();
      stage.world.engines.stt.pocketsphinx.script.push(...words);
      const client = await stage.world.connect();
      const input = { turn_detection: EAGER };
      client.say({
        type: 'session.update',
        session: { output_modalities: ['text'], audio: { input } },
      });
      const shown = await client.until(({ type }) => type === 'session.updated');
      expect(shown.session).toMatchObject({ audio: { input } });
      return client;
    }

    it('a speculative response is requested before the turn ends, sent only after the end, and charged once', async () => {
      const client = await startEager(['w1 w2']);
      hear(client, [tone(1_000, RATE), silence(300, RATE)]);
      await expect.poll(() => stage.world.chat.seen.length).toBe(1);
      expect(client.types()).not.toContain('input_audio_buffer.speech_stopped');
      expect(client.types()).not.toContain('response.created');
      hear(client, [silence(600, RATE)]);
      const turn = await done(client);
      expect(turn.output[0]?.content?.[0]?.text).toBe('Good day. All is well.');
      expect(turn.metadata).not.toHaveProperty('speculation_cost_raw');
      expect(stage.world.chat.seen).toHaveLength(1);
      expect(await leave(client)).toBeGreaterThan(0n);
    });

    it('a speculative response does not suspend the agent over a kill-switch cap that it would reach', async () => {
      const client = await startEager(['w1 w2']);
      const { chat, ledger } = stage.world;
      const { extend } = ledger;
      const quiet: boolean[] = [];
      ledger.extend = async (claim, byRaw, isQuiet = false) => {
        quiet.push(isQuiet);
        if (!isQuiet) return extend(claim, byRaw);
        const policy = policyOf({ kind: 'api', matchKey: 'acme', action: 'suspend_agent' });
        const breach = { policy, requiredRaw: byRaw, spentRaw: 0n, capRaw: 0n };
        return {
          kind: 'refused',
          refusal: { reason: 'cap_exceeded', breach, availableRaw: 0n, suspended: false },
        };
      };
      hear(client, [tone(1_000, RATE), silence(300, RATE)]);
      await expect.poll(() => quiet.length).toBeGreaterThan(0);
      expect([quiet, chat.seen.length]).toEqual([[true], 0]);
      hear(client, [silence(600, RATE)]);
      expect(await done(client)).toMatchObject({ status: 'completed' });
      expect(chat.seen).toHaveLength(1);
      await leave(client);
    });

    it('a speculative response is dropped when the caller goes on, at most once a turn, and its cost is reported', async () => {
      const client = await startEager(['w1 w2 w3 w4']);
      stage.world.chat.play({ pieces: [textEvent('Too soon')], ends: 'hang' });
      hear(client, [tone(1_000, RATE), silence(300, RATE)]);
      await expect.poll(() => stage.world.chat.sent.bytes).toBeGreaterThan(0);
      // What was sent has to arrive before it is given up.
      await expect.poll(() => stage.world.ledger.openHolds()).toBe(2);
      hear(client, [tone(500, RATE)]);
      await expect.poll(() => stage.world.chat.abandoned.count).toBe(1);
      stage.world.chat.play({ pieces: answer(['Now.']) });
      hear(client, [silence(300, RATE), tone(500, RATE), silence(1_000, RATE)]);
      const turn = await done(client);
      expect(turn.output[0]?.content?.[0]?.text).toBe('Now.');
      expect(stage.world.chat.seen.map(({ messages }) => messages)).toEqual([
        [{ role: 'user', content: 'w1 w2' }],
        [{ role: 'user', content: 'w1 w2 w3 w4' }],
      ]);
      // Two tokens asked and two written; or none, where it was given up before it began.
      const vain = Number(turn.metadata.speculation_cost_raw ?? 0);
      expect([0, 2, 2 + 2 * 2]).toContain(vain);
      const costRaw = await leave(client);
      const heard = stage.world.ledger.charges.find(({ targetHost }) => targetHost === 'local');
      const heardSeconds = heard?.usage.audio_second ?? 0;
      const heardRaw = Math.ceil(Number((heardSeconds * 10 * 1.05).toFixed(3)));
      expect(Number(costRaw)).toBe(20 + 2 * 8 + vain + heardRaw);
    });
  });

  it('a cascade session opens a composed model of the catalogue, with single parts replaced by the query', async () => {
    const { connect, engines, speech } = await start();
    const client = await connect({ model: 'acme/talker' });
    say(client, 'hello');
    expect(await done(client)).toMatchObject({ status: 'completed' });
    expect(speech.seen).toHaveLength(2);
    await leave(client);
    const other = await connect({ model: 'acme/talker', tts_model: 'local/flite' });
    say(other, 'hello');
    await done(other);
    expect([speech.seen.length, engines.tts.flite.spoken.length]).toEqual([2, 2]);
    other.ws.close();
    await settled(stage.world.ledger);
  });
});

const hangsAfterPcm = () => {
  const hangs = hangsAfter(Buffer.from(bytesOf(tone(300, RATE))));
  return (response: Parameters<typeof hangs>[0]) => {
    response.setHeader('content-type', 'audio/pcm');
    const { writeHead } = response;
    response.writeHead = ((status: number) => writeHead.call(response, status)) as never;
    return hangs(response);
  };
};
