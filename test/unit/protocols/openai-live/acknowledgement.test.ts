import { describe, expect, it } from 'vitest';
import { HANDED_OVER } from '../../../../src/protocols/openai-live/acknowledgement.ts';
import { LIVE_RATE, openLiveSession } from '../../../support/live-session.ts';
import { silence, tone } from '../../../support/voice-fakes.ts';
import type { SentEvent } from '../../../support/voice-world.ts';

const USAGE = { inputTokens: 4, outputTokens: 4 };
const MOMENT = 'One moment please.';
const LONG = `Yes${' and yes'.repeat(20)}.`;
const RESULT = 'It is sunny.';
const HAND_OVER = { name: 'delegate_task', argumentsJson: '{"task":"weather"}' };
const TOOL = { type: 'function', name: 'weather', parameters: { type: 'object' } };
const BACKEND = { type: 'responses', responses: { model: 'local/realtime', tools: [TOOL] } };

/** A session whose model answers the caller with a call, said with `words`, and then with `then`. */
async function handOver({
  delegation = { type: 'client' } as object,
  words = '',
  call = HAND_OVER,
  answers = [MOMENT],
}) {
  const session = await openLiveSession({ delegation });
  const { engines, ledger, send, socket, speak } = session;
  engines.guide.answers.push({ text: words, usage: USAGE, toolCall: call });
  for (const text of answers) engines.guide.answers.push({ text, usage: USAGE });
  await speak(tone(1_000, LIVE_RATE));
  const ask = () => speak(silence(900, LIVE_RATE));
  return {
    ...session,
    ask,
    spoken: engines.tts.flite.spoken,
    delegations: () => socket.of('session.delegation.created').length,
    append: (type: 'commentary' | 'thinking' | 'instructions', content: string) =>
      send({ type: `session.${type}.append`, content, delegation_id: null }),
    utter: async () => {
      await speak(tone(1_000, LIVE_RATE));
      await ask();
    },
    /** Holds what is journaled next until the returned function is called. */
    holdJournal() {
      const { journal } = ledger;
      let release = () => {};
      ledger.journal = async (...entries) => {
        ledger.journal = journal;
        await new Promise<void>((resolve) => {
          release = resolve;
        });
        return journal(...entries);
      };
      return () => release();
    },
    giveResult() {
      const done = socket
        .of('response.event')
        .map(({ event }) => event as SentEvent)
        .find(({ type }) => type === 'response.output_item.done');
      const { call_id } = (done as unknown as { item: { call_id: string } }).item;
      send({
        type: 'response.item.create',
        item: { type: 'function_call_output', call_id, output: 'sunny' },
      });
      send({ type: 'response.create' });
    },
  };
}

const withDelay = (acknowledgement_delay_ms: number) => ({
  type: 'client',
  acknowledgement_delay_ms,
});

describe('the acknowledgement of a delegation', () => {
  it.each([
    ['the application', { type: 'client' }, HAND_OVER],
    ['a backend', BACKEND, { name: 'weather', argumentsJson: '{}' }],
  ])(
    'the acknowledgement of a delegation is requested of the model at once when work goes to %s',
    async (_, delegation, call) => {
      const { ask, delegations, engines, pass, spoken } = await handOver({ delegation, call });
      await ask();
      await pass(2_000);
      expect([delegations(), spoken]).toEqual([1, [MOMENT]]);
      const [, asked] = engines.guide.asked;
      expect(asked?.tools).toEqual([]);
      expect(asked?.messages[0]).toMatchObject({
        role: 'system',
        content: expect.stringContaining('looking into it'),
      });
      expect(asked?.messages.at(-1)).toEqual({ role: 'tool', content: HANDED_OVER });
    },
  );

  it('the acknowledgement of a delegation comes once the delay is over, and no more than once', async () => {
    const { ask, delegations, pass, spoken } = await handOver({ delegation: withDelay(2_000) });
    await ask();
    await pass(1_000);
    expect([delegations(), spoken]).toEqual([1, []]);
    await pass(1_500);
    expect(spoken).toEqual([MOMENT]);
    await pass(10_000);
    expect(spoken).toEqual([MOMENT]);
  });

  it('the acknowledgement of a delegation is not requested when the model has already spoken', async () => {
    const words = 'Let me see.';
    const { ask, delegations, engines, pass, spoken } = await handOver({ words });
    await ask();
    await pass(3_000);
    expect([delegations(), spoken, engines.guide.asked.length]).toEqual([1, [words], 1]);
  });

  it.each(['commentary', 'thinking'] as const)(
    'the acknowledgement of a delegation is cancelled by %s before the delay is over',
    async (type) => {
      const { append, ask, engines, pass, spoken } = await handOver({
        delegation: withDelay(2_000),
      });
      await ask();
      append(type, RESULT);
      await pass(5_000);
      expect([spoken, engines.guide.asked.length]).toEqual([
        type === 'commentary' ? [RESULT] : [],
        1,
      ]);
    },
  );

  it('commentary cancels the acknowledgement of a delegation while the model writes it', async () => {
    const { append, ask, engines, errors, pass, spoken } = await handOver({
      delegation: withDelay(500),
    });
    await ask();
    let answer = () => {};
    engines.guide.thinking = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    await pass(500);
    expect(engines.guide.asked).toHaveLength(2);
    append('commentary', RESULT);
    answer();
    await pass(2_000);
    expect([spoken, errors()]).toEqual([[RESULT], []]);
  });

  it('the acknowledgement of a delegation waits for an answer to the caller, and commentary does not cancel that answer', async () => {
    const { append, ask, engines, errors, holdJournal, pass, spoken, utter } = await handOver({
      answers: [LONG, MOMENT],
    });
    const journaled = holdJournal();
    await ask();
    await utter();
    let answer = () => {};
    engines.guide.thinking = () =>
      new Promise((resolve) => {
        answer = resolve;
      });
    journaled();
    await pass(100);
    expect(engines.guide.asked).toHaveLength(2);
    append('commentary', RESULT);
    engines.guide.thinking = undefined;
    answer();
    await pass(8_000);
    // The commentary says what the acknowledgement would have announced.
    expect([spoken.join(' '), errors()]).toEqual([`${LONG} ${RESULT}`, []]);
  });

  it('the acknowledgement of a delegation is billed before a waiting answer, and commentary does not cancel that answer', async () => {
    const { append, ask, errors, holdJournal, pass, spoken, utter } = await handOver({
      delegation: withDelay(500),
      answers: [MOMENT, LONG],
    });
    await ask();
    const journaled = holdJournal();
    await pass(3_000);
    expect(spoken).toEqual([MOMENT]);
    await utter();
    append('commentary', RESULT);
    journaled();
    await pass(8_000);
    expect([spoken.join(' '), errors()]).toEqual([`${MOMENT} ${LONG} ${RESULT}`, []]);
  });

  it('the acknowledgement of a delegation is not cancelled by instructions, and comes after the answer in progress', async () => {
    const { append, ask, pass, speak, spoken } = await handOver({
      delegation: withDelay(3_500),
      answers: [LONG, MOMENT],
    });
    await ask();
    append('instructions', 'Be brief.');
    await speak(tone(1_000, LIVE_RATE));
    await ask();
    await pass(6_000);
    expect(spoken.join(' ')).toBe(`${LONG} ${MOMENT}`);
  });

  it('the acknowledgement of a delegation waits for the delay of the last session.update that sets one', async () => {
    const { ask, pass, send, spoken } = await handOver({ delegation: withDelay(60_000) });
    send({ type: 'session.update', session: { delegation: withDelay(1_000) } });
    send({ type: 'session.update', session: { delegation: { type: 'client' } } });
    await ask();
    await pass(3_000);
    expect(spoken).toEqual([MOMENT]);
  });

  it("the acknowledgement of a delegation is dropped for the backend's result, or spoken before it when already begun", async () => {
    const call = { name: 'weather', argumentsJson: '{}' };
    for (const isLate of [false, true]) {
      const delegation = { ...BACKEND, acknowledgement_delay_ms: 500 };
      const answers = isLate ? [LONG, RESULT] : [RESULT];
      const { ask, engines, errors, giveResult, pass, spoken } = await handOver({
        answers,
        call,
        delegation,
      });
      await ask();
      if (isLate) await pass(600);
      giveResult();
      await pass(6_000);
      expect([spoken.join(' '), errors()]).toEqual([answers.join(' '), []]);
      expect(engines.guide.asked.at(-1)?.messages.findLast(({ role }) => role === 'tool')).toEqual({
        role: 'tool',
        content: 'sunny',
      });
    }
  });

  it('the acknowledgement of a delegation is not requested once the session is over', async () => {
    const { ask, engines, live, pass } = await handOver({ delegation: withDelay(2_000) });
    await ask();
    live.socketClosed();
    await live.settled;
    await pass(3_000);
    expect(engines.guide.asked).toHaveLength(1);
  });
});
