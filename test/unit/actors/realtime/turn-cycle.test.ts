import { describe, expect, it } from 'vitest';
import { openSession, RATE, response } from '../../../support/realtime-session.ts';
import { silence, tone } from '../../../support/voice-fakes.ts';
import { type SentEvent, settleAll } from '../../../support/voice-world.ts';

/** A session whose recogniser makes out an utterance when it is told to. */
async function opened(turnDetection: Record<string, unknown> = {}) {
  const session = await openSession();
  const turn_detection = { type: 'server_vad', ...turnDetection };
  session.send({ type: 'session.update', session: { turn_detection } });
  const { guide, stt } = session.engines;
  const decoding: (() => void)[] = [];
  stt.pocketsphinx.decoding = () => new Promise<void>((resolve) => decoding.push(resolve));
  const makeOut = async () => {
    await settleAll();
    decoding.shift()?.();
    await settleAll();
  };
  const utter = async () => {
    await session.speak(tone(400, RATE));
    await session.speak(silence(800, RATE));
  };
  const words = () => guide.asked.map(({ messages }) => messages.map(({ content }) => content));
  const script = (...texts: string[]) => stt.pocketsphinx.script.push(...texts);
  /** Holds what is written down next until it is told to go on. */
  const holdJournal = () => {
    const { journal } = session.ledger;
    let written = () => {};
    session.ledger.journal = async (...entries) => {
      session.ledger.journal = journal;
      await new Promise<void>((resolve) => {
        written = resolve;
      });
      return journal(...entries);
    };
    return () => written();
  };
  const count = (type: string) => session.socket.of(type).length;
  return { ...session, count, holdJournal, makeOut, script, utter, words };
}

const statuses = (events: SentEvent[]) => events.map((event) => response(event).status);

describe('a caller whose words are not made out yet', () => {
  it('is not talked over when he goes on, and has one answer to all of it', async () => {
    const { count, makeOut, script, speak, utter, words } = await opened();
    script('what is', 'the time');
    await utter();
    await speak(tone(400, RATE));
    await makeOut();
    expect(count('response.created')).toBe(0);
    await speak(silence(800, RATE));
    await makeOut();
    expect(words()).toEqual([['what is', 'the time']]);
    expect(count('response.done')).toBe(1);
  });

  it('is answered although what followed was no word, or was forgotten', async () => {
    for (const end of ['noise', 'clear'] as const) {
      const { makeOut, script, send, speak, utter, words } = await opened();
      script('hello', '');
      await utter();
      await speak(tone(400, RATE));
      await makeOut();
      expect(words()).toEqual([]);
      if (end === 'clear') send({ type: 'input_audio_buffer.clear' });
      else await speak(silence(800, RATE));
      await makeOut();
      expect([end, ...words()]).toEqual([end, ['hello']]);
    }
  });

  it('is answered at once all the same when he may not break in', async () => {
    const { count, makeOut, speak, utter } = await opened({ interrupt_response: false });
    await utter();
    await speak(tone(400, RATE));
    await makeOut();
    expect(count('response.created')).toBe(1);
  });

  it('has one answer to all that he had said before it is thought of', async () => {
    const { count, makeOut, script, utter, words } = await opened();
    script('one', 'two');
    await utter();
    await utter();
    await makeOut();
    expect(count('response.created')).toBe(1);
    await makeOut();
    expect(words()).toEqual([['one', 'two']]);
    expect(count('response.created')).toBe(1);
  });

  it('has one answer when his client asks for it first', async () => {
    const { count, makeOut, script, send, utter, words } = await opened();
    script('one');
    await utter();
    send({ type: 'response.create' });
    await makeOut();
    expect(words()).toEqual([['one']]);
    expect([count('response.created'), count('response.done')]).toEqual([1, 1]);
  });
});

describe('a caller who breaks in', () => {
  it('before an answer has said anything is answered, also when he said no word', async () => {
    const { engines, makeOut, script, socket, utter, words } = await opened();
    script('hello', '');
    engines.guide.thinking = () => new Promise(() => {});
    await utter();
    await makeOut();
    engines.guide.thinking = undefined;
    await utter();
    expect(statuses(socket.of('response.done'))).toEqual(['cancelled']);
    await makeOut();
    expect(words()).toEqual([['hello'], ['hello']]);
    expect(statuses(socket.of('response.done'))).toEqual(['cancelled', 'completed']);
  });

  it('after it has said something is not spoken to again for a noise', async () => {
    const { engines, makeOut, script, socket, utter } = await opened();
    script('hello', '');
    engines.tts.flite.between = () => new Promise(() => {});
    await utter();
    await makeOut();
    await utter();
    await makeOut();
    expect(statuses(socket.of('response.done'))).toEqual(['cancelled']);
  });

  it('while an answer waits for the one before it to be billed, has it when he has finished', async () => {
    const { count, holdJournal, makeOut, say, script, speak, utter, words } = await opened();
    const written = holdJournal();
    script('one', 'two');
    await say('hello');
    await utter();
    await makeOut();
    await speak(tone(400, RATE));
    written();
    await settleAll();
    expect([count('response.created'), words().length]).toEqual([1, 1]);
    await speak(silence(800, RATE));
    await makeOut();
    expect(words().at(-1)?.slice(-2)).toEqual(['one', 'two']);
    expect(count('response.created')).toBe(2);
  });
});

describe('the client', () => {
  it('that commits itself asks itself for an answer', async () => {
    const { count, makeOut, send, speak } = await opened();
    await speak(tone(600, RATE));
    send({ type: 'input_audio_buffer.commit' });
    await makeOut();
    expect(count('conversation.item.input_audio_transcription.completed')).toBe(1);
    expect(count('response.created')).toBe(0);
    send({ type: 'response.create' });
    await settleAll();
    expect(count('response.done')).toBe(1);
  });

  it('cancels a response that waits, and no other follows in its place', async () => {
    const { count, holdJournal, ledger, say, send, session, socket, words } = await opened();
    const written = holdJournal();
    await say('hello');
    send({ type: 'response.create', response: { metadata: { mine: 'yes' } } });
    send({ type: 'response.cancel' });
    expect(socket.of('error')).toEqual([]);
    send({ type: 'response.cancel' });
    expect(socket.of('error')[0]).toMatchObject({ error: { code: 'response_cancel_not_active' } });
    written();
    await settleAll();
    const [, skipped] = socket.of('response.done');
    expect(response(skipped)).toMatchObject({
      ...{ status: 'cancelled', metadata: { mine: 'yes' } },
      status_details: { type: 'cancelled', reason: 'client_cancelled' },
      usage: { total_tokens: 0 },
    });
    expect([words().length, count('response.created'), count('response.done')]).toEqual([1, 2, 2]);
    await say('again');
    expect(words()).toHaveLength(2);
    session.socketClosed();
    await session.settled;
    expect(ledger.openHolds()).toBe(0);
  });
});
