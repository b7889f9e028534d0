import { describe, expect, it } from 'vitest';
import { openSession, RATE } from '../../../support/realtime-session.ts';
import { bytesOf, silence, tone } from '../../../support/voice-fakes.ts';
import { settleAll } from '../../../support/voice-world.ts';

type Session = Awaited<ReturnType<typeof openSession>>;

const takeTurnsByHand = (send: Session['send']) =>
  send({ type: 'session.update', session: { audio: { input: { turn_detection: null } } } });

/** One `append` of so much sound, at once. */
const append = (send: Session['send'], audio: Uint8Array) =>
  send({ type: 'input_audio_buffer.append', audio: Buffer.from(audio).toString('base64') });

const codes = (socket: Session['socket']) =>
  socket.of('error').map(({ error }) => (error as { code: string }).code);

describe('Listening', () => {
  it('a session whose client commits turns waits for the words of a commit before it answers', async () => {
    const { engines, socket, send, speak } = await openSession();
    takeTurnsByHand(send);
    engines.stt.pocketsphinx.script.push('by hand');
    await speak(tone(800, RATE));
    expect(socket.of('input_audio_buffer.speech_started')).toEqual([]);
    send({ type: 'input_audio_buffer.commit' });
    send({ type: 'response.create' });
    await settleAll();
    expect(engines.guide.asked[0]?.messages.at(-1)?.content).toBe('by hand');
    expect(socket.of('response.done')).toHaveLength(1);
    expect(socket.of('input_audio_buffer.committed')).toHaveLength(1);
  });

  it('a session reports that there is nothing to commit, and drops its audio on clear', async () => {
    const { socket, send, speak } = await openSession();
    send({ type: 'input_audio_buffer.commit' });
    expect(socket.of('error')[0]).toMatchObject({
      error: { code: 'input_audio_buffer_commit_empty' },
    });
    await speak(tone(600, RATE));
    send({ type: 'input_audio_buffer.clear' });
    await speak(silence(900, RATE));
    expect(socket.of('input_audio_buffer.cleared')).toHaveLength(1);
    expect(socket.of('input_audio_buffer.committed')).toEqual([]);
  });

  it('a session returns its recogniser when no audio comes for a minute, and takes another for the next speech', async () => {
    const { clock, engines, socket, speak } = await openSession();
    const { pocketsphinx } = engines.stt;
    await speak(tone(800, RATE));
    await speak(silence(900, RATE));
    for (let i = 0; i < 2; i++) {
      expect(pocketsphinx.inUse).toBe(1);
      clock.advance(30_000);
      await settleAll();
    }
    expect(pocketsphinx.inUse).toBe(0);
    await speak(tone(800, RATE));
    await speak(silence(900, RATE));
    expect([pocketsphinx.opened, pocketsphinx.inUse]).toEqual([2, 1]);
    const starts = socket.of('input_audio_buffer.speech_started').map((e) => e.audio_start_ms);
    expect(starts[1]).toBeGreaterThanOrEqual(1_300);
  });

  it('a session transcribes a caller whose audio stops in the middle of a word, and then returns the recogniser', async () => {
    const { clock, engines, socket, speak } = await openSession();
    const { pocketsphinx } = engines.stt;
    await speak(tone(800, RATE));
    for (let i = 0; i < 3; i++) {
      expect(pocketsphinx.inUse).toBe(1);
      clock.advance(30_000);
      await settleAll();
    }
    expect(pocketsphinx.inUse).toBe(0);
    expect(socket.of('conversation.item.input_audio_transcription.completed')).toHaveLength(1);
  });

  it('a session commits nothing by itself when the client commits turns', async () => {
    const { clock, engines, socket, send, speak } = await openSession();
    takeTurnsByHand(send);
    engines.stt.pocketsphinx.script.push('all of it');
    await speak(tone(500, RATE));
    for (let i = 0; i < 3; i++) {
      clock.advance(30_000);
      await settleAll();
    }
    await speak(tone(500, RATE));
    expect(socket.of('input_audio_buffer.committed')).toEqual([]);
    send({ type: 'input_audio_buffer.commit' });
    await settleAll();
    expect(socket.of('conversation.item.input_audio_transcription.completed')).toMatchObject([
      { transcript: 'all of it', usage: { seconds: 1 } },
    ]);
  });

  it('a session keeps the utterance when settings for later ones change, and applies the settings at its end', async () => {
    const { socket, send, speak } = await openSession();
    const set = (change: Record<string, unknown>) =>
      send({
        type: 'session.update',
        session: { turn_detection: { type: 'server_vad', ...change } },
      });
    await speak(tone(600, RATE));
    set({ create_response: false, interrupt_response: false, idle_timeout_ms: 6_000 });
    await speak(silence(900, RATE));
    expect(socket.of('input_audio_buffer.committed')).toHaveLength(1);
    expect(socket.of('response.created')).toEqual([]);
    await speak(tone(600, RATE));
    set({ create_response: true });
    await speak(silence(900, RATE));
    expect(socket.of('response.created')).toHaveLength(1);
  });

  it('a session returns its recogniser after an utterance that was cleared', async () => {
    const { clock, engines, send, speak } = await openSession();
    // Longer than the interval of the idle check, so that one check finds it busy.
    await speak(tone(31_000, RATE));
    send({ type: 'input_audio_buffer.clear' });
    await settleAll();
    clock.advance(60_000);
    await settleAll();
    expect(engines.stt.pocketsphinx.inUse).toBe(0);
  });

  it('a session accepts no larger burst of audio after a long silence than at the start', async () => {
    const { clock, socket, send } = await openSession();
    clock.advance(800_000);
    const tenSeconds = bytesOf(silence(10_000, RATE));
    for (let i = 0; i < 12; i++) append(send, tenSeconds);
    expect(codes(socket)).toEqual([]);
    append(send, tenSeconds);
    expect(codes(socket)).toEqual(['audio_too_fast']);
  });

  it('a session counts speech that is being billed as unpaid until the reserve is whole again', async () => {
    const { clock, ledger, socket, send } = await openSession();
    const { journal } = ledger;
    let write = () => {};
    const mayWrite = new Promise<void>((resolve) => {
      write = resolve;
    });
    ledger.journal = async (...line) => {
      await mayWrite;
      return journal(...line);
    };
    const input = { turn_detection: null, format: { type: 'audio/pcmu' } };
    send({ type: 'session.update', session: { audio: { input } } });
    append(send, new Uint8Array(59 * 8_000));
    send({ type: 'input_audio_buffer.commit' });
    await settleAll();
    clock.advance(59_000);
    append(send, new Uint8Array(62 * 8_000));
    expect(codes(socket)).toEqual(['input_audio_over_reserve']);
    write();
    await settleAll();
    append(send, new Uint8Array(62 * 8_000));
    expect(codes(socket)).toHaveLength(1);
  });

  it('a session takes no more speech than the reserve of a turn covers, however the audio is split', async () => {
    const { clock, engines, ledger, session, socket, send, say } = await openSession();
    engines.guide.thinking = () => new Promise(() => {});
    await say('hello');
    const input = { turn_detection: null, format: { type: 'audio/pcmu' } };
    send({ type: 'session.update', session: { audio: { input } } });
    append(send, new Uint8Array(59 * 8_000));
    send({ type: 'input_audio_buffer.commit' });
    clock.advance(59_000);
    append(send, new Uint8Array(98_880 * 8));
    expect(codes(socket)).toEqual(['input_audio_over_reserve']);
    append(send, new Uint8Array(59 * 8_000));
    send({ type: 'input_audio_buffer.commit' });
    append(send, new Uint8Array(3 * 8_000));
    expect(codes(socket)).toHaveLength(2);
    session.socketClosed();
    await session.settled;
    expect(ledger.charges[0]?.usage.audio_second).toBeCloseTo(118, 0);
  });

  it('a session charges nothing for speech that no recogniser heard', async () => {
    const { engines, ledger, session, socket, speak } = await openSession();
    engines.stt.pocketsphinx.streams = 0;
    await speak(tone(1_000, RATE));
    await speak(silence(900, RATE));
    expect(socket.of('conversation.item.input_audio_transcription.failed')).toHaveLength(1);
    session.socketClosed();
    await session.settled;
    expect(ledger.charges).toEqual([]);
  });

  it('a session still transcribes and answers what was committed when the turn detection changes', async () => {
    const { engines, socket, send, speak } = await openSession();
    takeTurnsByHand(send);
    engines.stt.pocketsphinx.script.push('by hand');
    await speak(tone(800, RATE));
    send({ type: 'input_audio_buffer.commit' });
    send({ type: 'session.update', session: { turn_detection: { type: 'server_vad' } } });
    send({ type: 'response.create' });
    await settleAll();
    expect(engines.guide.asked.map(({ messages }) => messages.at(-1)?.content)).toEqual([
      'by hand',
    ]);
    expect(socket.of('conversation.item.input_audio_transcription.completed')).toHaveLength(1);
    expect(engines.stt.pocketsphinx.inUse).toBe(0);
  });

  it('a session keeps the words of two utterances apart when the settings change between them', async () => {
    const { engines, socket, send, speak } = await openSession();
    const { pocketsphinx } = engines.stt;
    const open = pocketsphinx.open.bind(pocketsphinx);
    let decode = () => {};
    const decoded = new Promise<void>((resolve) => {
      decode = resolve;
    });
    let most = 0;
    pocketsphinx.open = async (options) => {
      const stream = await open(options);
      most = Math.max(most, pocketsphinx.inUse);
      return { ...stream, endUtterance: () => decoded.then(() => stream.endUtterance()) };
    };
    pocketsphinx.script.push('first', 'second');
    takeTurnsByHand(send);
    await speak(tone(800, RATE));
    send({ type: 'input_audio_buffer.commit' });
    send({ type: 'session.update', session: { input_audio_format: 'g711_ulaw' } });
    append(send, new Uint8Array(8_000));
    send({ type: 'input_audio_buffer.commit' });
    await settleAll();
    decode();
    await settleAll();
    const items = socket.of('input_audio_buffer.committed').map((event) => event.item_id);
    const completed = socket.of('conversation.item.input_audio_transcription.completed');
    expect(completed.map((event) => [event.item_id, event.transcript])).toEqual([
      [items[0], 'first'],
      [items[1], 'second'],
    ]);
    expect(most).toBe(1);
  });

  it('a session reports that all recognisers are busy, and stays usable for text', async () => {
    const { engines, socket, speak, say } = await openSession();
    engines.stt.pocketsphinx.streams = 0;
    await speak(tone(800, RATE));
    await speak(silence(900, RATE));
    expect(socket.of('error')[0]).toMatchObject({
      error: { code: 'engine_overloaded', message: expect.stringMatching(/again in \d+ s/) },
    });
    expect(socket.of('conversation.item.input_audio_transcription.failed')).toHaveLength(1);
    await say('hello');
    expect(socket.of('response.done')).toHaveLength(1);
  });
});
