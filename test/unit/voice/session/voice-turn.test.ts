import { describe, expect, it } from 'vitest';
import { openSession, RATE, response } from '../../../support/realtime-session.ts';
import { tone } from '../../../support/voice-fakes.ts';
import { settleAll } from '../../../support/voice-world.ts';

describe('VoiceTurn', () => {
  it('VoiceTurn fails the response and keeps the session when the synthesizer breaks', async () => {
    const { engines, socket, say } = await openSession();
    engines.tts.flite.between = async () => {
      throw new Error('trap');
    };
    await say('hello');
    expect(response(socket.of('response.done')[0])).toMatchObject({ status: 'failed' });
    engines.tts.flite.between = undefined;
    await say('again');
    expect(response(socket.of('response.done')[1])).toMatchObject({ status: 'completed' });
  });

  it.each([
    [1, ['incomplete']],
    [Number.POSITIVE_INFINITY, []],
  ])(
    'a voice turn is reported as failed, closed and billed when sending its end breaks, %s times',
    async (times, ends) => {
      const { engines, ledger, session, socket, send } = await openSession();
      const answer = () => send({ type: 'response.create', response: { modalities: ['text'] } });
      let left = times;
      const sends = socket.send.bind(socket);
      socket.send = (data) => {
        if (data.includes('"response.output_text.done"') && left-- > 0) throw new Error('broken');
        return sends(data);
      };
      const usage = { inputTokens: 1, outputTokens: 9 };
      engines.guide.answers.push({ text: 'One two three.', usage });
      answer();
      await settleAll();
      expect(response(socket.of('response.done')[0])).toMatchObject({
        status: 'failed',
        status_details: { error: { code: 'server_error' } },
        usage: { output_tokens: 9 },
      });
      const items = socket.of('response.output_item.done').map(({ item }) => item);
      expect(items).toMatchObject(ends.map((status) => ({ status })));
      socket.send = sends;
      answer();
      await settleAll();
      expect(response(socket.of('response.done')[1])).toMatchObject({ status: 'completed' });
      session.socketClosed();
      await session.settled;
      expect(ledger.charges[0]?.usage.text_output_token).toBeGreaterThan(9);
    },
  );

  it('VoiceTurn stops sending while the client does not read, and goes on when it does', async () => {
    const { engines, session, socket, say } = await openSession();
    engines.guide.answers.push({
      text: `${'word '.repeat(100)}.`,
      usage: { inputTokens: 1, outputTokens: 100 },
    });
    socket.bufferedAmount = 1_000_000;
    await say('hello');
    expect(socket.of('response.output_audio.delta')).toEqual([]);
    socket.bufferedAmount = 0;
    session.drained();
    await settleAll();
    expect(socket.of('response.done')).toHaveLength(1);
  });

  it('VoiceTurn reports its first audio when bytes are sent, not while resampling holds them back', async () => {
    const { clock, engines, say, socket } = await openSession();
    engines.tts.flite.speak = async function* () {
      yield { text: 'One.', sampleRateHz: 16_000, pcm: tone(100, 16_000).subarray(0, 1) };
      clock.advance(500);
      yield { text: '', sampleRateHz: 16_000, pcm: tone(100, 16_000) };
    };
    await say('hello');
    expect(response(socket.of('response.done')[0]).metadata).toMatchObject({
      first_audio_ms: '500',
    });
  });

  it('VoiceTurn stops at once when the caller interrupts it, and charges what was synthesized', async () => {
    const { engines, ledger, session, socket, speak, say } = await openSession();
    let go = () => {};
    engines.tts.flite.between = () =>
      new Promise((resolve) => {
        go = resolve;
      });
    await say('hello');
    expect(engines.tts.flite.spoken).toEqual(['You said hello.']);
    await speak(tone(600, RATE));
    go();
    await settleAll();

    const done = response(socket.of('response.done')[0]);
    expect(done.status).toBe('cancelled');
    expect(done.status_details).toEqual({ type: 'cancelled', reason: 'turn_detected' });
    expect(done.output[0]?.content?.[0]?.transcript).toBe('You said hello.');
    expect(engines.tts.flite.spoken).toEqual(['You said hello.']);
    session.socketClosed();
    await session.settled;
    expect(ledger.charges[0]?.usage).toMatchObject({ character: 'You said hello.'.length });
  });

  it("a voice turn is incomplete when its output limit cut the LLM's answer, and complete at exactly the limit", async () => {
    const { engines, socket, send } = await openSession();
    const usage = { inputTokens: 1, outputTokens: 3 };
    const wanted = { max_output_tokens: 3, output_modalities: ['text'] };
    for (const isCut of [true, false]) {
      engines.guide.answers.push({ text: 'One two three', isCut, usage });
      send({ type: 'response.create', response: wanted });
      await settleAll();
    }
    const [cut, whole] = socket.of('response.done').map(response);
    const reason = 'max_output_tokens';
    expect(cut).toMatchObject({ status: 'incomplete', status_details: { reason } });
    expect(whole).toMatchObject({ status: 'completed', status_details: null });
  });

  it('a voice turn is cut at a sentence when the output cap is reached, with that as the reason', async () => {
    const { engines, socket, send } = await openSession();
    engines.guide.answers.push({
      text: 'One two three. Four five six. Seven eight nine.',
      usage: { inputTokens: 1, outputTokens: 9 },
    });
    // 9 tokens of text, and 6 for each sentence of 300 ms: the third is one too many.
    send({ type: 'response.create', response: { max_output_tokens: 24 } });
    await settleAll();
    const done = response(socket.of('response.done')[0]);
    expect(done).toMatchObject({
      status: 'incomplete',
      status_details: { reason: 'max_output_tokens' },
      usage: { output_tokens: 21 },
    });
    expect(done.output[0]?.content?.[0]?.transcript).toBe('One two three. Four five six.');
  });
});
