import { describe, expect, it } from 'vitest';
import { openSession, RATE, response } from '../../../support/realtime-session.ts';
import { silence, tone } from '../../../support/voice-fakes.ts';
import { type SentEvent, settleAll } from '../../../support/voice-world.ts';

/** A session whose recogniser transcribes an utterance when the test says so. */
async function opened(turnDetection: Record<string, unknown> = {}) {
  const session = await openSession();
  const turn_detection = { type: 'server_vad', ...turnDetection };
  session.send({ type: 'session.update', session: { turn_detection } });
  const { guide, stt } = session.engines;
  const decoding: (() => void)[] = [];
  stt.pocketsphinx.decoding = () => new Promise<void>((resolve) => decoding.push(resolve));
  const transcribe = async () => {
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
  /** Holds what is written down next until the test lets it go on. */
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
  return { ...session, count, holdJournal, transcribe, script, utter, words };
}

const statuses = (events: SentEvent[]) => events.map((event) => response(event).status);

describe('a caller whose words are not transcribed yet', () => {
  it('a caller who speaks on before the words are transcribed gets one answer to both utterances', async () => {
    const { count, transcribe, script, speak, utter, words } = await opened();
    script('what is', 'the time');
    await utter();
    await speak(tone(400, RATE));
    await transcribe();
    expect(count('response.created')).toBe(0);
    await speak(silence(800, RATE));
    await transcribe();
    expect(words()).toEqual([['what is', 'the time']]);
    expect(count('response.done')).toBe(1);
  });

  it('a caller is answered although the next utterance had no words, or was cleared', async () => {
    for (const end of ['noise', 'clear'] as const) {
      const { transcribe, script, send, speak, utter, words } = await opened();
      script('hello', '');
      await utter();
      await speak(tone(400, RATE));
      await transcribe();
      expect(words()).toEqual([]);
      if (end === 'clear') send({ type: 'input_audio_buffer.clear' });
      else await speak(silence(800, RATE));
      await transcribe();
      expect([end, ...words()]).toEqual([end, ['hello']]);
    }
  });

  it('a caller who speaks on is answered at once when callers may not interrupt', async () => {
    const { count, transcribe, speak, utter } = await opened({ interrupt_response: false });
    await utter();
    await speak(tone(400, RATE));
    await transcribe();
    expect(count('response.created')).toBe(1);
  });

  it('a caller gets one answer to all utterances before the LLM reads them', async () => {
    const { count, transcribe, script, utter, words } = await opened();
    script('one', 'two');
    await utter();
    await utter();
    await transcribe();
    expect(count('response.created')).toBe(1);
    await transcribe();
    expect(words()).toEqual([['one', 'two']]);
    expect(count('response.created')).toBe(1);
  });

  it('a caller gets one answer when the client requests it before the words are transcribed', async () => {
    const { count, transcribe, script, send, utter, words } = await opened();
    script('one');
    await utter();
    send({ type: 'response.create' });
    await transcribe();
    expect(words()).toEqual([['one']]);
    expect([count('response.created'), count('response.done')]).toEqual([1, 1]);
  });
});

describe('a caller who interrupts', () => {
  it('a caller who interrupts before an answer is heard is answered, also without saying a word', async () => {
    const { engines, transcribe, script, socket, utter, words } = await opened();
    script('hello', '');
    engines.guide.thinking = () => new Promise(() => {});
    await utter();
    await transcribe();
    engines.guide.thinking = undefined;
    await utter();
    expect(statuses(socket.of('response.done'))).toEqual(['cancelled']);
    await transcribe();
    expect(words()).toEqual([['hello'], ['hello']]);
    expect(statuses(socket.of('response.done'))).toEqual(['cancelled', 'completed']);
  });

  it('a caller who interrupts is answered although the client had requested the interrupted answer', async () => {
    const { engines, transcribe, script, send, socket, utter, words } = await opened();
    script('are you there', '');
    engines.guide.thinking = () => new Promise(() => {});
    await utter();
    send({ type: 'response.create' });
    await transcribe();
    engines.guide.thinking = undefined;
    await utter();
    await transcribe();
    expect(words()).toEqual([['are you there'], ['are you there']]);
    expect(statuses(socket.of('response.done'))).toEqual(['cancelled', 'completed']);
  });

  it('a caller who interrupts a heard answer with a noise is not answered again', async () => {
    const { engines, transcribe, script, socket, utter } = await opened();
    script('hello', '');
    engines.tts.flite.between = () => new Promise(() => {});
    await utter();
    await transcribe();
    await utter();
    await transcribe();
    expect(statuses(socket.of('response.done'))).toEqual(['cancelled']);
  });

  it('a caller who speaks while the previous answer is being billed gets the next answer after speaking', async () => {
    const { count, holdJournal, transcribe, say, script, speak, utter, words } = await opened();
    const written = holdJournal();
    script('one', 'two');
    await say('hello');
    await utter();
    await transcribe();
    await speak(tone(400, RATE));
    written();
    await settleAll();
    expect([count('response.created'), words().length]).toEqual([1, 1]);
    await speak(silence(800, RATE));
    await transcribe();
    expect(words().at(-1)?.slice(-2)).toEqual(['one', 'two']);
    expect(count('response.created')).toBe(2);
  });
});

describe('a caller and the idle timeout', () => {
  const LAPSED = 'input_audio_buffer.timeout_triggered';

  it('a caller who interrupts an answer is not prompted by the idle timeout while speaking, however long that takes', async () => {
    for (const interrupt_response of [true, false]) {
      const { count, engines, transcribe, speak, utter } = await opened({
        idle_timeout_ms: 5_000,
        interrupt_response,
      });
      let goOn = () => {};
      engines.tts.flite.between = () =>
        new Promise((resolve) => {
          goOn = resolve;
        });
      await utter();
      await transcribe();
      await speak(tone(1_000, RATE));
      goOn();
      await speak(tone(7_000, RATE));
      expect([count(LAPSED), count('response.created')]).toEqual([0, 1]);
      await speak(silence(800, RATE));
      await transcribe();
      expect([count(LAPSED), count('response.created')]).toEqual([0, 2]);
    }
  });

  it('a caller is prompted after the idle timeout although an out-of-band answer came in between', async () => {
    const { count, say, send, speak } = await opened({ idle_timeout_ms: 5_000 });
    await say('hello');
    send({ type: 'response.create', response: { conversation: 'none' } });
    await speak(silence(6_000, RATE));
    expect([count(LAPSED), count('response.done')]).toEqual([1, 3]);
  });
});

describe('a caller of a server that drains', () => {
  it('a caller of a draining server is disconnected at once when the utterance was dropped', async () => {
    for (const end of ['input_audio_buffer.clear', 'session.update']) {
      const { transcribe, send, session, socket, speak } = await opened();
      await speak(tone(1_000, RATE));
      session.drain();
      send({ type: end, session: { turn_detection: null } });
      await transcribe();
      expect([end, socket.closed?.code]).toEqual([end, 1012]);
    }
  });

  it('a draining server does not wait for audio that only its client could commit', async () => {
    const { send, session, socket, speak } = await opened();
    send({ type: 'session.update', session: { turn_detection: null } });
    await speak(tone(1_000, RATE));
    session.drain();
    expect(socket.closed?.code).toBe(1012);
  });

  it('a caller of a draining server who pauses and goes on is heard and answered', async () => {
    const { engines, ledger, transcribe, script, session, socket, speak, utter, words } =
      await opened();
    script('i would like', 'a table');
    engines.guide.thinking = () => new Promise(() => {});
    await speak(tone(500, RATE));
    session.drain();
    await speak(silence(800, RATE));
    await transcribe();
    engines.guide.thinking = undefined;
    await utter();
    expect(socket.closed).toBeUndefined();
    await transcribe();
    await session.settled;
    expect(words().at(-1)).toEqual(['i would like', 'a table']);
    expect(statuses(socket.of('response.done'))).toEqual(['cancelled', 'completed']);
    expect([socket.closed?.code, ledger.openHolds()]).toEqual([1012, 0]);
  });

  it('a draining server closes a session 1012 at the deadline, and its response in progress fails', async () => {
    const { clock, deps, engines, say, session, socket } = await opened();
    deps.sessions.enter('sess_test', {
      drain: () => session.drain(),
      abandon: () => session.socketClosed(),
    });
    engines.guide.thinking = () => new Promise(() => {});
    await say('hello');
    const drained = deps.sessions.drain(10_000);
    clock.advance(10_000);
    await drained;
    await session.settled;
    expect(socket.closed?.code).toBe(1012);
    expect(statuses(socket.of('response.done'))).toEqual(['failed']);
  });
});

describe('the client', () => {
  it('a client that commits turns itself must request its answers itself', async () => {
    const { count, transcribe, send, speak } = await opened();
    await speak(tone(600, RATE));
    send({ type: 'input_audio_buffer.commit' });
    await transcribe();
    expect(count('conversation.item.input_audio_transcription.completed')).toBe(1);
    expect(count('response.created')).toBe(0);
    send({ type: 'response.create' });
    await settleAll();
    expect(count('response.done')).toBe(1);
  });

  it('a client can cancel a response that waits, and no other response replaces it', async () => {
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
      status: 'cancelled',
      metadata: { mine: 'yes' },
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
