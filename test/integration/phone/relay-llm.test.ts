import { describe, expect, it } from 'vitest';
import { LIMITS } from '../../../src/kernel/limits.ts';
import { relayResponderWorld } from '../../support/relay-responder-world.ts';
import {
  failureCode,
  responderRequest,
  wholeReply,
  wordsOf,
} from '../../support/responder-request.ts';
import { said } from '../../support/said.ts';

const text = (token: string, last = false) => ({ type: 'text', token, last });
const SILENT = [said('user', 'Hi'), said('assistant', 'Hello')];

describe('an application of ConversationRelay as the responder of a call', () => {
  it('gets the call in its setup, and each utterance as one prompt', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    expect(await app.heard()).toMatchObject({
      type: 'setup',
      sessionId: expect.stringMatching(/^VX[0-9a-f]{32}$/),
      callSid: 'CA1',
      from: '+14155550100',
      to: '+14155550199',
      direction: 'inbound',
      customParameters: { taskId: 'ca1' },
    });
    const hi = said('user', 'Hi');
    const first = wholeReply(w.llm.reply(responderRequest([hi])));
    expect(await app.heard()).toEqual({
      type: 'prompt',
      voicePrompt: 'Hi',
      lang: 'en-US',
      last: true,
    });
    app.say(text('Hel'), text('lo'), text('', true));
    expect(wordsOf(await first)).toBe('Hello');

    const items = [hi, said('assistant', 'Hello'), said('user', 'Your hours?')];
    const second = wholeReply(w.llm.reply(responderRequest(items)));
    expect(await app.heard()).toMatchObject({ voicePrompt: 'Your hours?' });
    app.say(text('Nine to five', true));
    expect(wordsOf(await second)).toBe('Nine to five');
  });

  it('gets once what was said while its answer was interrupted', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    await app.heard();
    const items = [said('user', 'Hi'), said('user', 'Are you there?')];
    w.llm.reply(responderRequest(items.slice(0, 1), AbortSignal.abort()));
    const answer = wholeReply(w.llm.reply(responderRequest(items)));
    expect(await app.heard()).toMatchObject({ voicePrompt: 'Hi' });
    expect(await app.heard()).toMatchObject({ voicePrompt: 'Are you there?' });
    app.say(text('Yes', true));
    expect(wordsOf(await answer)).toBe('Yes');
  });

  it('gets keys as keys and what the caller says as prompts, and never a note', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    await app.heard();
    for (const digit of '12#') w.llm.dtmf(digit);
    const notes = [
      said('user', '[keypad] 12#'),
      said('user', '[transfer] The other person was not reached: busy.'),
      said('user', '[language] es-ES is not available; the language stays as it is.'),
    ];
    expect(await wholeReply(w.llm.reply(responderRequest(notes)))).toEqual([]);
    for (const digit of '12#') expect(await app.heard()).toEqual({ type: 'dtmf', digit });
    const answer = wholeReply(w.llm.reply(responderRequest([...notes, said('user', 'Hello?')])));
    expect(await app.heard()).toMatchObject({ type: 'prompt', voicePrompt: 'Hello?' });
    app.say(text('Yes', true));
    expect(wordsOf(await answer)).toBe('Yes');
  });

  it('is heard token by token', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    const reply = w.llm.reply(responderRequest([said('user', 'Hi')]));
    const first = reply.next();
    app.say({ ...text('One'), interruptible: false, preemptible: true, lang: 'en-US' });
    expect(await first).toEqual({ kind: 'text', text: 'One' });
    const second = reply.next();
    app.say(text(' two', true));
    expect([await second, await reply.next()]).toEqual([{ kind: 'text', text: ' two' }, undefined]);
  });

  it('presses keys, plays, changes the language and ends the call, in the order that it says so', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    const answer = wholeReply(w.llm.reply(responderRequest([said('user', 'Hi')])));
    app.say(
      text('Goodbye'),
      { type: 'sendDigits', digits: '1#' },
      { type: 'play', source: 'https://a.example/bye.mp3', loop: 1 },
      { type: 'language', ttsLanguage: 'es-ES', transcriptionLanguage: 'es-ES' },
      { type: 'end', handoffData: '{"reason":"done"}' },
    );
    const calls = (await answer).map((piece) =>
      piece.kind === 'call' ? piece.name : wordsOf([piece]),
    );
    expect(calls).toEqual(['Goodbye', 'send_digits', 'play_audio', 'set_language', 'end_call']);
  });

  it('hears of keys and of interruptions', async () => {
    await using w = await relayResponderWorld();
    w.llm.dtmf('5');
    const app = await w.app.session();
    expect(await app.heard()).toMatchObject({ type: 'setup' });
    expect(await app.heard()).toEqual({ type: 'dtmf', digit: '5' });
    w.llm.interrupted('Our hours are', 460.4);
    expect(await app.heard()).toEqual({
      type: 'interrupt',
      utteranceUntilInterrupt: 'Our hours are',
      durationUntilInterruptMs: 460,
    });
  });

  it('has an answer requested for what it says unasked, one for each of its answers', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    app.say(text('Are you still there?', true), text('I will '), text('hang up.', true));
    await w.askedForAnswer(1);
    const first = await wholeReply(w.llm.reply(responderRequest(SILENT)));
    await w.askedForAnswer(2);
    const second = await wholeReply(w.llm.reply(responderRequest(SILENT)));
    expect([wordsOf(first), wordsOf(second)]).toEqual(['Are you still there?', 'I will hang up.']);
    expect(await wholeReply(w.llm.reply(responderRequest(SILENT)))).toEqual([]);
  });

  it('says what waited before it answers a question that came meanwhile', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    app.say(text('Your table is ready. ', true));
    await w.askedForAnswer(1);
    const answer = wholeReply(w.llm.reply(responderRequest([said('user', 'Which table?')])));
    await app.heard();
    await app.heard();
    app.say(text('Number four', true));
    expect(wordsOf(await answer)).toBe('Your table is ready. Number four');
  });

  it('is not heard with the rest of an answer that the caller interrupted', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    const stopping = new AbortController();
    const reply = w.llm.reply(responderRequest([said('user', 'Hi')], stopping.signal));
    app.say(text('A long '));
    await reply.next();
    const rest = reply.next();
    stopping.abort();
    expect(await rest).toBeUndefined();
    app.say(text('story'), text(' ends', true), text('Anything else?', true));
    await w.askedForAnswer(1);
    expect(wordsOf(await wholeReply(w.llm.reply(responderRequest(SILENT))))).toBe('Anything else?');
  });

  it('ends an answer without a last token when nothing more of it comes', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    const reply = w.llm.reply(responderRequest([said('user', 'Hi')]));
    app.say(text('Hello'));
    await reply.next();
    const { relayLongPauseMs, relayPauseMs, relayQuietMs } = LIMITS.phone;
    const pause = reply.next();
    w.clock.advance(relayPauseMs);
    expect(await pause).toEqual({ kind: 'pause', isLong: false });
    const longPause = reply.next();
    w.clock.advance(relayLongPauseMs - relayPauseMs);
    expect(await longPause).toEqual({ kind: 'pause', isLong: true });
    const rest = reply.next();
    w.clock.advance(relayQuietMs - relayLongPauseMs);
    expect(await rest).toBeUndefined();
  });

  it('refuses the call when it says nothing in 30 seconds', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    await app.heard();
    const failure = failureCode(w.llm.reply(responderRequest([said('user', 'Hi')])));
    await app.heard();
    w.clock.advance(29_999);
    app.ws.ping();
    await new Promise((resolve) => app.ws.once('pong', resolve));
    w.clock.advance(1);
    expect(await failure).toMatch(/^llm_refused: .*too long/);
  });
});

describe('the connection to an application of ConversationRelay', () => {
  it('stands up again with the same setup when it breaks between two answers', async () => {
    await using w = await relayResponderWorld();
    const before = await w.app.session();
    const setup = await before.heard();
    before.ws.terminate();
    const after = await w.app.session();
    expect(await after.heard()).toEqual(setup);
    const answer = wholeReply(w.llm.reply(responderRequest([said('user', 'Hi')])));
    expect(await after.heard()).toMatchObject({ voicePrompt: 'Hi' });
    after.say(text('Hello', true));
    expect(wordsOf(await answer)).toBe('Hello');
    expect(w.unprompted()).toBe(0);
  });

  it('refuses the call when it breaks in the middle of an answer', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    await app.heard();
    const failure = failureCode(w.llm.reply(responderRequest([said('user', 'Hi')])));
    await app.heard();
    app.ws.terminate();
    expect(await failure).toMatch(/^llm_refused: .*broke/);
    expect(w.app.sessions).toHaveLength(1);
  });

  it('stands up again only so often', async () => {
    await using w = await relayResponderWorld();
    for (let i = 0; i <= LIMITS.phone.relayReconnects; i++) {
      const app = await w.app.session();
      await app.heard();
      app.ws.terminate();
    }
    await w.askedForAnswer(1);
    expect(await failureCode(w.llm.reply(responderRequest(SILENT)))).toMatch(
      /^llm_refused: .*broke/,
    );
    expect(w.app.sessions).toHaveLength(LIMITS.phone.relayReconnects + 1);
  });

  it('ends the call when the application closes it without a fault', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    app.ws.close(1000);
    await w.askedForAnswer(1);
    expect(await wholeReply(w.llm.reply(responderRequest(SILENT)))).toMatchObject([
      { name: 'end_call' },
    ]);
  });

  it('refuses the call where there is no application, and where it may not be called', async () => {
    await using nowhere = await relayResponderWorld({ url: 'ws://127.0.0.1:39998/' });
    await using local = await relayResponderWorld({ allowLocalhost: false });
    for (const { llm } of [nowhere, local]) {
      const failure = failureCode(llm.reply(responderRequest([said('user', 'Hi')])));
      expect(await failure).toMatch(/^llm_refused: .*connected/);
    }
    expect(local.app.sessions).toEqual([]);
  });

  it('answers what makes no sense with an error, and ends the call at the third', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    await app.heard();
    app.say({ type: 'say', text: 'Hello' });
    expect(await app.heard()).toEqual({
      type: 'error',
      description: 'Invalid message received: {"type":"say","text":"Hello"}',
    });
    app.ws.send('{');
    expect(await app.heard()).toMatchObject({ type: 'error' });
    app.ws.send(Buffer.from('{"type":"end"}'), { binary: true });
    await w.askedForAnswer(1);
    expect(await failureCode(w.llm.reply(responderRequest(SILENT)))).toMatch(
      /^llm_refused: .*sense/,
    );
    expect(await app.closed).toBe(1000);
  });

  it('ends the call when the application says more than can wait, or too often', async () => {
    await using wordy = await relayResponderWorld();
    const app = await wordy.app.session();
    for (let i = 0; i < 5; i++) app.say(text('x'.repeat(LIMITS.phone.relayTokenChars)));
    await wordy.askedForAnswer(1);
    expect(await app.closed).toBe(1000);

    await using busy = await relayResponderWorld();
    const other = await busy.app.session();
    for (let i = 0; i <= LIMITS.phone.relayMessageBurst; i++) other.say(text('', true));
    await busy.askedForAnswer(1);
    expect(await failureCode(busy.llm.reply(responderRequest(SILENT)))).toMatch(
      /too many messages/,
    );
  });

  it('is closed with the call, and lets go of who waits for an answer', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    await app.heard();
    const answer = wholeReply(w.llm.reply(responderRequest([said('user', 'Hi')])));
    await app.heard();
    w.llm.close();
    expect(await answer).toEqual([]);
    expect(await app.closed).toBe(1000);
  });
});
