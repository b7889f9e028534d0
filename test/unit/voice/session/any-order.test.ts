import fc from 'fast-check';
import { expect, it } from 'vitest';
import { openRealtime } from '../../../../src/protocols/openai-realtime/realtime-session.ts';
import { replayTape } from '../../../../src/protocols/replay-tape.ts';
import { logLines } from '../../../support/log-lines.ts';
import { openSession, RATE } from '../../../support/realtime-session.ts';
import { memoryTapes } from '../../../support/tapes.ts';
import { bytesOf, silence, tone } from '../../../support/voice-fakes.ts';
import { type SentEvent, settleAll } from '../../../support/voice-world.ts';

const base64 = (pcm: Int16Array) => Buffer.from(bytesOf(pcm)).toString('base64');
const TONE = base64(tone(300, RATE));
const SILENCE = base64(silence(700, RATE));

const itemId = fc.constantFrom('item_a', 'item_b', 'item_none');
const text = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'go on' }] };
const answers = fc.boolean();

const detection = fc.oneof(
  fc.constant(null),
  fc.record({
    type: fc.constant('server_vad'),
    idle_timeout_ms: fc.constantFrom(null, 5_000),
    create_response: answers,
    interrupt_response: answers,
  }),
  fc.record({
    type: fc.constant('semantic_vad'),
    eagerness: fc.constantFrom('low', 'high', 'auto'),
    create_response: answers,
  }),
);

const session = fc.record(
  {
    turn_detection: detection,
    input_audio_format: fc.constantFrom('pcm16', 'g711_ulaw', 'g711_alaw', 'flac'),
    output_modalities: fc.constantFrom(['text'], ['audio']),
    tools: fc.constant([{ type: 'function', name: 'weather', parameters: {} }]),
    tool_choice: fc.constantFrom('auto', 'none', 'required'),
    type: fc.constantFrom('realtime', 'transcription'),
  },
  { requiredKeys: [] },
);

const wanted = fc.record(
  {
    conversation: fc.constantFrom('auto', 'none'),
    input: fc.array(
      fc.oneof(
        { weight: 5, arbitrary: fc.constant(text) },
        fc.record({ type: fc.constant('item_reference'), id: itemId }),
      ),
      { maxLength: 2 },
    ),
    max_output_tokens: fc.constantFrom(1, 5, 5, 'inf', 'inf', -1),
    metadata: fc.constant({ a: 'b' }),
  },
  { requiredKeys: [] },
);

const type = <T extends string>(name: T) => fc.constant(name);

/** Every event of the protocol, and some that are none. */
const clientEvent = fc.oneof(
  fc.record({ type: type('session.update'), session }),
  {
    weight: 3,
    arbitrary: fc.record({
      type: type('input_audio_buffer.append'),
      audio: fc.constantFrom(TONE, SILENCE, '', '##'),
    }),
  },
  fc.record({
    type: fc.constantFrom(
      'input_audio_buffer.commit',
      'input_audio_buffer.clear',
      'output_audio_buffer.clear',
    ),
  }),
  fc.record({
    type: type('conversation.item.create'),
    item: fc.record({ id: itemId }).map(({ id }) => ({ ...text, id })),
  }),
  fc.record({
    type: fc.constantFrom('conversation.item.retrieve', 'conversation.item.delete'),
    item_id: itemId,
  }),
  {
    weight: 2,
    arbitrary: fc.record({
      type: type('conversation.item.truncate'),
      item_id: fc.constant('the last spoken'),
      content_index: fc.constantFrom(0, 1),
      audio_end_ms: fc.constantFrom(0, 150, 1e6),
    }),
  },
  { weight: 3, arbitrary: fc.record({ type: type('response.create'), response: wanted }) },
  { weight: 2, arbitrary: fc.record({ type: type('response.cancel') }) },
  fc.anything().map((content) => ({ type: 'no.such.event', content: String(typeof content) })),
  fc
    .json()
    .map((content) => ({ type: 'conversation.item.create', item: JSON.parse(content) as unknown })),
);

/** What happens between two events: nothing, some turns of the loop, time, or an engine is done. */
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ event: clientEvent }) },
  { weight: 2, arbitrary: fc.constant('settle' as const) },
  fc.constant('time' as const),
  { weight: 2, arbitrary: fc.constant('engines' as const) },
);

const ENDING = fc.constantFrom('drained', 'left');

const idsOf = (events: readonly SentEvent[]) =>
  events.map(({ response }) => (response as { id: string }).id);

it('client events in any order never throw in a session, end every response once, leave no hold, and replay the same', async () => {
  let answered = 0;
  const script = fc.array(step, { minLength: 15, maxLength: 40 });
  await fc.assert(
    fc.asyncProperty(script, ENDING, fc.boolean(), async (steps, ending, isRecorded) => {
      const { log, lines } = logLines();
      const tapes = memoryTapes();
      const {
        clock,
        deps,
        engines,
        ledger,
        send,
        session: live,
        socket,
      } = await openSession({ log, ...(isRecorded && { change: { tapes }, open: openRealtime }) });
      engines.guide.answers.push({
        text: '',
        toolCall: { name: 'weather', argumentsJson: '{}' },
        usage: { inputTokens: 1, outputTokens: 1 },
      });
      deps.sessions.enter('sess_test', {
        drain: () => live.drain(),
        abandon: () => live.socketClosed(),
      });
      const held: (() => void)[] = [];
      const hold = () => new Promise<void>((resolve) => held.push(resolve));
      engines.guide.thinking = hold;
      engines.tts.flite.between = hold;
      const release = async () => {
        for (const go of held.splice(0)) go();
        await settleAll();
      };
      for (const taken of steps) {
        if (taken === 'settle') await settleAll();
        else if (taken === 'engines') await release();
        else if (taken === 'time') clock.advance(1_000);
        else send(inPlace(taken.event, socket.events));
      }
      if (ending === 'drained') {
        await settleAll();
        void deps.sessions.drain(10_000);
        await settleAll();
        // An engine that never comes back holds nothing up.
        clock.advance(10_000);
      } else live.socketClosed();
      await live.settled;

      expect(lines).toEqual([]);
      answered += socket.of('response.done').length;
      const created = idsOf(socket.of('response.created'));
      expect(new Set(created).size).toBe(created.length);
      const done = idsOf(socket.of('response.done'));
      expect(done).toEqual(created);
      expect(ledger.openHolds()).toBe(0);
      expect(deps.sessions.size).toBe(0);
      expect(engines.stt.pocketsphinx.inUse).toBe(0);
      expect(ledger.charges.length).toBeLessThanOrEqual(1);
      if (!isRecorded) return;
      await settleAll();
      const tape = tapes.tape();
      const replayed = { frames: tape.sent.length, difference: undefined };
      expect(await replayTape(tape)).toEqual(replayed);
    }),
    { numRuns: 150 },
  );
  expect(answered).toBeGreaterThan(50);
}, 60_000);

/** An answer's id is known only once it was given. */
function inPlace(event: Readonly<Record<string, unknown>>, sent: readonly SentEvent[]) {
  if (event.type !== 'conversation.item.truncate') return event;
  const spoken = sent.findLast(({ type: name }) => name === 'response.output_audio.delta');
  return { ...event, item_id: spoken?.item_id ?? 'item_none' };
}
