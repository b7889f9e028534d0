import { describe, expect, it } from 'vitest';
import { PHONE_LIMITS } from '../../../src/phone/limits.ts';
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
  it('a ConversationRelay app gets the call in its setup, and each utterance as one prompt', async () => {
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

  it('a ConversationRelay app gets each utterance once, even if the caller interrupts the answer', async () => {
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

  it('a ConversationRelay app gets keys as keys and utterances as prompts, and never an internal note', async () => {
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

  it('the answer of a ConversationRelay app is spoken token by token', async () => {
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

  it('a ConversationRelay app sends keys, plays audio, changes the language and ends the call, in the order of its messages', async () => {
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

  it('a ConversationRelay app receives keys and interruptions', async () => {
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

  it('each unrequested message of a ConversationRelay app requests a response of its own', async () => {
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

  it('a queued message of a ConversationRelay app is spoken before its answer to a later question', async () => {
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

  it("the rest of a ConversationRelay app's answer that the caller interrupted is not spoken", async () => {
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

  it('an answer of a ConversationRelay app without a last token ends when no more tokens come', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    const reply = w.llm.reply(responderRequest([said('user', 'Hi')]));
    app.say(text('Hello'));
    await reply.next();
    const {
      longPauseMs: relayLongPauseMs,
      pauseMs: relayPauseMs,
      quietMs: relayQuietMs,
    } = PHONE_LIMITS.relay;
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

  it('a ConversationRelay app that sends nothing for 30 seconds ends the call as refused', async () => {
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
  it('the connection to a ConversationRelay app reconnects with the same setup when it breaks between two answers', async () => {
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

  it('the connection to a ConversationRelay app refuses the call when it breaks in the middle of an answer', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    await app.heard();
    const failure = failureCode(w.llm.reply(responderRequest([said('user', 'Hi')])));
    await app.heard();
    app.ws.terminate();
    expect(await failure).toMatch(/^llm_refused: .*broke/);
    expect(w.app.sessions).toHaveLength(1);
  });

  it('the connection to a ConversationRelay app reconnects only up to its limit', async () => {
    await using w = await relayResponderWorld();
    for (let i = 0; i <= PHONE_LIMITS.relay.reconnects; i++) {
      const app = await w.app.session();
      await app.heard();
      app.ws.terminate();
    }
    await w.askedForAnswer(1);
    expect(await failureCode(w.llm.reply(responderRequest(SILENT)))).toMatch(
      /^llm_refused: .*broke/,
    );
    expect(w.app.sessions).toHaveLength(PHONE_LIMITS.relay.reconnects + 1);
  });

  it('the connection to a ConversationRelay app ends the call when the app closes it without an error', async () => {
    await using w = await relayResponderWorld();
    const app = await w.app.session();
    app.ws.close(1000);
    await w.askedForAnswer(1);
    expect(await wholeReply(w.llm.reply(responderRequest(SILENT)))).toMatchObject([
      { name: 'end_call' },
    ]);
  });

  it('the connection to a ConversationRelay app refuses the call when no app is there, or its address is not allowed', async () => {
    await using nowhere = await relayResponderWorld({ url: 'ws://127.0.0.1:39998/' });
    await using local = await relayResponderWorld({ allowLocalhost: false });
    for (const { llm } of [nowhere, local]) {
      const failure = failureCode(llm.reply(responderRequest([said('user', 'Hi')])));
      expect(await failure).toMatch(/^llm_refused: .*connected/);
    }
    expect(local.app.sessions).toEqual([]);
  });

  it('the connection to a ConversationRelay app replies to invalid messages with an error, and ends the call at the third', async () => {
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

  it('the connection to a ConversationRelay app ends the call when the app sends more than the queue holds, or too often', async () => {
    await using wordy = await relayResponderWorld();
    const app = await wordy.app.session();
    for (let i = 0; i < 5; i++) app.say(text('x'.repeat(PHONE_LIMITS.relay.tokenChars)));
    await wordy.askedForAnswer(1);
    expect(await app.closed).toBe(1000);

    await using busy = await relayResponderWorld();
    const other = await busy.app.session();
    for (let i = 0; i <= PHONE_LIMITS.relay.messageBurst; i++) other.say(text('', true));
    await busy.askedForAnswer(1);
    expect(await failureCode(busy.llm.reply(responderRequest(SILENT)))).toMatch(
      /too many messages/,
    );
  });

  it('the connection to a ConversationRelay app closes with the call, and ends the wait for an answer', async () => {
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
