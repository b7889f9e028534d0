import { describe, expect, it } from 'vitest';
import { MACHINE_LIMITS } from '../../../../machines/limits.ts';
import { sleep } from '../../../../src/kernel/clock.ts';
import { MODEL_LIMITS } from '../../../../src/models/limits.ts';
import { LIVE_LIMITS } from '../../../../src/protocols/openai-live/limits.ts';
import { charsOf } from '../../../../src/voice/billing/turn-meter.ts';
import { VOICE_LIMITS } from '../../../../src/voice/limits.ts';
import { LIVE_RATE, openLiveSession } from '../../../support/live-session.ts';
import { silence, tone } from '../../../support/voice-fakes.ts';
import { AGENT, type SentEvent, settleAll } from '../../../support/voice-world.ts';

const USAGE = { inputTokens: 4, outputTokens: 4 };
const soundMs = (events: readonly SentEvent[]) =>
  events.reduce((sum, { delta }) => sum + Buffer.from(String(delta), 'base64').length, 0) /
  (LIVE_RATE / 500);
const say = (content: string) => ({
  type: 'session.commentary.append',
  event_id: `say-${content}`,
  content,
  delegation_id: null,
});
const TOOL = {
  type: 'function',
  name: 'weather',
  description: 'The weather of a city.',
  parameters: { type: 'object' },
};
/** Longer than any test lasts. */
const UNACKNOWLEDGED = { acknowledgement_delay_ms: 600_000 };
const BACKEND = {
  ...UNACKNOWLEDGED,
  type: 'responses',
  responses: { model: 'local/realtime', instructions: 'Use tools.', tools: [TOOL] },
};
const nested = (socket: { of(type: string): SentEvent[] }) =>
  socket.of('response.event').map(({ event }) => event as SentEvent);

describe('a live session on this server', () => {
  it('a live session begins with the settings of session.start', async () => {
    const { engines, socket, speak } = await openLiveSession({
      instructions: 'Be brief.',
      audio: { format: { type: 'audio/pcm', rate: 24_000 }, output: { voice: 'rms' } },
      input: [
        { role: 'developer', content: [{ type: 'input_text', text: 'He is Ann’s brother.' }] },
      ],
    });
    expect(socket.events[0]).toMatchObject({
      type: 'session.started',
      client_event_id: 'start-1',
      session: {
        id: 'sess_test',
        model: 'local/realtime',
        status: 'active',
        instructions: 'Be brief.',
        delegation: { type: 'client' },
        audio: { format: { type: 'audio/pcm', rate: 24_000 }, output: { voice: 'rms' } },
      },
    });
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    const messages = engines.guide.asked[0]?.messages.map(({ content }) => content);
    expect(messages).toEqual(expect.arrayContaining(['He is Ann’s brother.', 'w1 w2 w3']));
  });

  it('a live session transcribes the caller, answers in audio and words, and reports the cost of the answer', async () => {
    const { ledger, live, pass, socket, speak } = await openLiveSession();
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    await pass(2_000);
    expect(socket.of('session.input_transcript.delta')).toMatchObject([{ delta: 'w1 w2 w3' }]);
    const [words] = socket.of('session.output_transcript.delta');
    expect(words).toMatchObject({ delta: 'You said w1 w2 w3.' });
    expect(Number(words?.end_ms)).toBeGreaterThan(Number(words?.start_ms));
    // Eight words of 100 ms each.
    expect(soundMs(socket.of('session.output_audio.delta'))).toBeCloseTo(800, -1);
    const [usage] = socket.of('session.usage.updated');
    expect(usage).toMatchObject({ usage: { seconds: expect.any(Number) } });
    const { cost_raw: cost } = (usage?.metadata ?? {}) as { cost_raw: string };
    live.socketClosed();
    await live.settled;
    expect([ledger.consumedRaw(AGENT), ledger.openHolds()]).toEqual([BigInt(cost), 0]);
  });

  it('a live session sends speech no further ahead of real time than a client needs', async () => {
    const { pass, send, socket } = await openLiveSession();
    send(say('one two three four five six seven eight nine ten eleven twelve'));
    await settleAll();
    const most = LIVE_LIMITS.aheadMs + VOICE_LIMITS.speechDeltaMs;
    for (let passed = 0; passed < 1_000; passed += 100) {
      const ms = soundMs(socket.of('session.output_audio.delta'));
      expect(ms).toBeLessThanOrEqual(passed + most);
      await pass(100);
    }
    await pass(1_000);
    expect(soundMs(socket.of('session.output_audio.delta'))).toBeCloseTo(1_200, -1);
  });

  it('a live session falls silent when the caller interrupts, and remembers the words that were heard', async () => {
    const { engines, pass, send, socket, speak } = await openLiveSession();
    send(say('one two three four five. six seven eight nine ten eleven twelve thirteen.'));
    await pass(300);
    await speak(tone(700, LIVE_RATE));
    const before = socket.of('session.output_audio.delta').length;
    await pass(2_000);
    expect(socket.of('session.output_audio.delta')).toHaveLength(before);
    expect(soundMs(socket.of('session.output_audio.delta'))).toBeLessThan(1_300);
    await speak(silence(900, LIVE_RATE));
    const said = engines.guide.asked.at(-1)?.messages.find(({ role }) => role === 'assistant');
    expect(said?.content).toMatch(/^one two three/);
    expect(said?.content).not.toContain('thirteen');
  });

  it('a live session speaks commentary word for word, one text after another, without calling the model', async () => {
    const { engines, pass, send, socket } = await openLiveSession();
    send(say('The first.'));
    send(say('The second.'));
    await pass(2_000);
    expect(engines.tts.flite.spoken).toEqual(['The first.', 'The second.']);
    expect(engines.guide.asked).toEqual([]);
    expect(socket.of('session.commentary.appended')).toMatchObject([
      { client_event_id: 'say-The first.' },
      { client_event_id: 'say-The second.' },
    ]);
  });

  it('a live session speaks a text to its end that takes longer than answers of other protocols may', async () => {
    const { clock, engines, errors, pass, send, socket } = await openLiveSession();
    const { signal } = new AbortController();
    engines.tts.flite.between = () => sleep(clock, MACHINE_LIMITS.realtime.turnMs * 0.6, signal);
    send(say('One. Two. Three.'));
    await pass(MACHINE_LIMITS.realtime.turnMs * 1.3);
    expect(errors()).toEqual([]);
    expect(engines.tts.flite.spoken).toEqual(['One.', 'Two.', 'Three.']);
    expect(soundMs(socket.of('session.output_audio.delta'))).toBeCloseTo(300, -1);
  });

  it('a live session speaks for the whole length of its words, which alone count as output tokens', async () => {
    const { engines, errors, pass, send, socket, speak } = await openLiveSession({
      delegation: { ...BACKEND, responses: { ...BACKEND.responses, max_output_tokens: 16 } },
    });
    const words = 'one '.repeat(20).trim();
    engines.guide.answers.push({ text: words, usage: { inputTokens: 4, outputTokens: 16 } });
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    await pass(3_000);
    expect(engines.guide.asked).toMatchObject([{ maxTokens: 16 }]);
    expect(soundMs(socket.of('session.output_audio.delta'))).toBeCloseTo(2_000, -1);
    send({ ...say('two '.repeat(800)), event_id: 'long' });
    await pass(90_000);
    expect(soundMs(socket.of('session.output_audio.delta'))).toBeCloseTo(82_000, -1);
    expect(errors()).toEqual([]);
  });

  it('a live session speaks no more than what is held for the turn', async () => {
    const { leastRaw } = await openLiveSession();
    const { engines, ledger, live, pass, send } = await openLiveSession({ creditRaw: leastRaw });
    send({ ...say('three '.repeat(600)), event_id: 'long' });
    await pass(90_000);
    const chars = engines.tts.flite.spoken.join('').length;
    expect(chars).toBeGreaterThan(0);
    expect(chars).toBeLessThanOrEqual(charsOf(MODEL_LIMITS.tokens.leastOutput));
    live.socketClosed();
    await live.settled;
    expect(ledger.consumedRaw(AGENT)).toBeLessThanOrEqual(leastRaw);
  });

  it('a live session reports an answer that takes too long, and goes on', async () => {
    const { clock, errors, send, socket } = await openLiveSession();
    send(say('one two three four five six seven eight nine ten eleven twelve'));
    await settleAll();
    clock.advance(LIVE_LIMITS.turnMs);
    await settleAll();
    expect(errors()).toMatchObject([{ code: 'turn_stopped' }]);
    expect(socket.closed).toBeUndefined();
  });

  it('a live session ends without an error when its client closes it in the middle of an answer', async () => {
    const { errors, live, pass, send, socket } = await openLiveSession();
    send(say('one two three four five six seven eight nine ten eleven twelve'));
    await pass(300);
    send({ type: 'session.close' });
    await live.settled;
    expect(errors()).toEqual([]);
    expect(socket.types().slice(-2)).toEqual(['session.usage.updated', 'session.closed']);
  });

  it('a live session queues a limited number of texts', async () => {
    const { errors, send } = await openLiveSession();
    for (let n = 0; n < LIVE_LIMITS.commentaries + 2; n++) send(say(`text ${n}`));
    expect(errors()).toMatchObject([{ code: 'rate_limit_exceeded' }]);
  });

  it("a live session puts instructions and thinking into the next answer's request, and speaks neither", async () => {
    const { engines, send, socket, speak } = await openLiveSession();
    send({ type: 'session.instructions.append', content: 'Speak French.', delegation_id: null });
    send({ type: 'session.thinking.append', content: 'He is a doctor.', delegation_id: null });
    await settleAll();
    expect(engines.tts.flite.spoken).toEqual([]);
    expect(socket.types()).toEqual([
      'session.started',
      'session.instructions.appended',
      'session.thinking.appended',
    ]);
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    const messages = engines.guide.asked[0]?.messages.map(({ content }) => content);
    expect(messages).toEqual(expect.arrayContaining(['Speak French.', 'He is a doctor.']));
  });

  it('a live session delegates work to the application, and speaks the result', async () => {
    const delegation = { type: 'client', ...UNACKNOWLEDGED };
    const { engines, pass, send, socket, speak } = await openLiveSession({ delegation });
    engines.guide.answers.push({
      text: '',
      usage: USAGE,
      toolCall: { name: 'delegate_task', argumentsJson: '{"task":"weather"}' },
    });
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    const [created] = socket.of('session.delegation.created');
    expect(created).toMatchObject({ delegation: { type: 'delegation', target: 'client' } });
    expect(socket.of('response.event')).toEqual([]);
    const { id } = (created as unknown as { delegation: { id: string } }).delegation;
    send({ type: 'session.commentary.append', content: 'It is sunny.', delegation_id: id });
    await pass(1_000);
    expect(engines.tts.flite.spoken).toEqual(['It is sunny.']);
  });

  it('a live session calls the tools of a backend in the events of a Responses stream, and answers with their output', async () => {
    const { engines, errors, pass, send, socket, speak } = await openLiveSession({
      delegation: BACKEND,
    });
    engines.guide.answers.push(
      { text: '', usage: USAGE, toolCall: { name: 'weather', argumentsJson: '{"city":"Bern"}' } },
      { text: 'It is sunny.', usage: USAGE },
    );
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    expect(socket.of('session.delegation.created')).toMatchObject([
      { delegation: { target: 'responses', response_id: expect.stringMatching(/^resp_/) } },
    ]);
    expect(nested(socket).map(({ type }) => type)).toEqual([
      'response.created',
      'response.output_item.added',
      'response.function_call_arguments.delta',
      'response.function_call_arguments.done',
      'response.output_item.done',
      'response.completed',
    ]);
    expect(nested(socket).map(({ sequence_number }) => sequence_number)).toEqual([
      0, 1, 2, 3, 4, 5,
    ]);
    const { item } = nested(socket)[4] as unknown as { item: { call_id: string } };
    expect(item).toMatchObject({ name: 'weather', arguments: '{"city":"Bern"}' });
    expect(nested(socket)[5]).toMatchObject({
      response: { status: 'completed', usage: { input_tokens: 4, output_tokens: 4 } },
    });
    send({
      type: 'response.item.create',
      item: { type: 'function_call_output', call_id: item.call_id, output: 'sunny' },
    });
    send({ type: 'response.create' });
    await pass(1_500);
    expect(errors()).toEqual([]);
    expect(engines.guide.asked[1]?.messages.at(-1)).toMatchObject({ content: 'sunny' });
    expect(engines.tts.flite.spoken).toEqual(['It is sunny.']);
  });

  it('a live session changes the tools of a backend, but neither its model nor the type of delegation', async () => {
    const { engines, errors, send, socket, speak } = await openLiveSession({ delegation: BACKEND });
    const update = (delegation: object) =>
      send({ type: 'session.update', session: { delegation } });
    update({ type: 'responses', responses: { tools: [{ ...TOOL, name: 'time' }] } });
    update({ type: 'responses', responses: { model: 'other' } });
    update({ type: 'client' });
    send({ type: 'session.update', session: { delegation: null } });
    expect(socket.of('session.updated')).toMatchObject([
      {
        session: {
          delegation: { responses: { instructions: 'Use tools.', tools: [{ name: 'time' }] } },
        },
      },
    ]);
    expect(errors().map(({ code }) => code)).toEqual(Array(3).fill('invalid_value'));
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    expect(engines.guide.asked[0]?.tools).toMatchObject([{ name: 'time' }]);
  });

  it('a muted live session receives silence from its caller', async () => {
    const { engines, send, socket, speak } = await openLiveSession();
    send({ type: 'session.input_audio.mute', event_id: 'm' });
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    expect(engines.guide.asked).toEqual([]);
    send({ type: 'session.input_audio.unmute' });
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    expect(engines.guide.asked).toHaveLength(1);
    expect(socket.of('session.input_audio.muted')).toMatchObject([{ client_event_id: 'm' }]);
    expect(socket.of('session.input_audio.unmuted')).toHaveLength(1);
  });

  it('a live session closes when its client requests it, and settles once', async () => {
    const { ledger, live, pass, send, socket, speak } = await openLiveSession();
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    await pass(1_500);
    send({ type: 'session.close' });
    await live.settled;
    expect(socket.events.at(-1)).toMatchObject({
      type: 'session.closed',
      reason: 'close_requested',
      session: { id: 'sess_test' },
      usage: { seconds: 3.4 },
    });
    expect([socket.closed, ledger.openHolds(), ledger.charges.length]).toEqual([
      { code: 1000, reason: 'close_requested' },
      0,
      1,
    ]);
  });

  it('a live session ends with the reason when the balance does not cover another answer', async () => {
    const { leastRaw } = await openLiveSession();
    const { live, pass, socket, speak } = await openLiveSession({ creditRaw: leastRaw });
    await speak(tone(1_000, LIVE_RATE));
    await speak(silence(900, LIVE_RATE));
    await pass(2_000);
    await live.settled;
    expect(socket.types().slice(-2)).toEqual(['error', 'session.closed']);
    expect(socket.of('error')).toMatchObject([
      { error: { type: 'insufficient_quota', code: 'budget_exhausted' } },
    ]);
    expect(socket.of('session.closed')).toMatchObject([{ reason: 'expired' }]);
    expect(socket.closed?.code).toBe(1008);
  });

  it('a live session ends after two hours', async () => {
    const { clock, live, send, socket } = await openLiveSession();
    for (let minutes = 0; minutes < 120; minutes += 10) {
      clock.advance(600_000);
      send({ type: 'session.input_audio.unmute' });
    }
    await live.settled;
    expect(socket.of('session.closed')).toMatchObject([{ reason: 'expired' }]);
  });

  it('a live session names the client event whose audio comes too fast', async () => {
    const { errors, send } = await openLiveSession();
    const audio = Buffer.alloc(LIVE_RATE / 2).toString('base64');
    const events = 4 * (VOICE_LIMITS.audioAheadSeconds + 2);
    for (let n = 0; n < events; n++) {
      send({ type: 'session.input_audio.append', audio, event_id: `e${n}` });
    }
    expect(errors().at(-1)).toMatchObject({
      code: 'audio_too_fast',
      client_event_id: `e${events - 1}`,
    });
  });

  it("a live session refuses an unsupported or unreadable event with the client's event id, and goes on", async () => {
    const { errors, send, live, socket } = await openLiveSession();
    const wrong: [object, string][] = [
      [{ type: 'session.start', session: { model: 'x' } }, 'session_already_started'],
      [{ type: 'session.output_audio.fixture.play', audio: '' }, 'unsupported_event'],
      [{ type: 'decision.create' }, 'unsupported_event'],
      [{ type: 'no.such.event' }, 'invalid_value'],
      [{ type: 'session.input_audio.append', audio: '%%%%%%%%' }, 'invalid_value'],
      [{ type: 'response.create' }, 'invalid_value'],
      [{ type: 'response.item.create', item: { role: 'user', content: 'x' } }, 'invalid_value'],
      [{ type: 'session.thinking.append', delegation_id: null }, 'invalid_value'],
      [{ type: 'session.update', session: { instructions: 'x' } }, 'unknown_parameter'],
    ];
    for (const [n, [event]] of wrong.entries()) send({ ...event, event_id: `e${n}` });
    expect(errors().map(({ code }) => code)).toEqual(wrong.map(([, code]) => code));
    expect(errors().map((error) => error.client_event_id)).toEqual(wrong.map((_, n) => `e${n}`));
    live.frame(Buffer.from('no JSON'));
    live.frame(Buffer.from('[]'));
    expect(errors().slice(-2)).toMatchObject([
      { code: 'invalid_json' },
      { code: 'missing_required_parameter' },
    ]);
    expect(socket.closed).toBeUndefined();
  });
});
