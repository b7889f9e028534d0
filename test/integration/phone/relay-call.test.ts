import { describe, expect, it } from 'vitest';
import { relayCall } from '../../support/relay-call.ts';

const text = (token: string, last = false) => ({ type: 'text', token, last });
const END = { type: 'end' };
const LONG =
  'One two three four. Five six seven eight. Nine ten eleven twelve. One two three four.';

describe('what an application of ConversationRelay says unasked', () => {
  it('an unrequested message of a ConversationRelay app is spoken after the one being heard, and its end ends the call', async () => {
    await using w = await relayCall();
    await w.tells(text('One moment, I am looking it up.', true));
    await w.passes(100);
    await w.tells(text('It is ready.', true), text('Goodbye.', true), END);
    await w.passes(4_000);
    expect(w.turns).toEqual([
      'assistant: One moment, I am looking it up.',
      'assistant: It is ready.',
      'assistant: Goodbye.',
    ]);
    expect(w.over).toEqual(['agent_ended']);
  });

  it('an unrequested message of a ConversationRelay app during the greeting is spoken after the greeting', async () => {
    await using w = await relayCall({ beginMessage: LONG });
    await w.tells(text('How can I help?', true));
    await w.passes(4_000);
    expect(w.turns).toEqual([`assistant: ${LONG}`, 'assistant: How can I help?']);
  });

  it('an unrequested message of a ConversationRelay app during the recording notice is spoken after the greeting', async () => {
    await using w = await relayCall({ notice: LONG, beginMessage: 'Hello there.' });
    await w.tells(text('How can I help?', true));
    await w.passes(4_000);
    expect(w.turns.slice(1)).toEqual(['assistant: Hello there.', 'assistant: How can I help?']);
  });

  it('a ConversationRelay app that sends invalid messages while its unrequested message is heard ends the call as refused', async () => {
    await using w = await relayCall();
    await w.tells(text(LONG, true));
    await w.passes(100);
    w.app.say(...[1, 2, 3].map(() => ({ type: 'nonsense' })));
    await w.app.closed;
    await w.passes(4_000);
    expect(w.over).toEqual(['llm_refused']);
  });
});

describe('a caller of an application of ConversationRelay', () => {
  /** The application has said goodbye, and the caller interrupts that. */
  async function interruptedGoodbye(close: boolean, ...goodbye: readonly object[]) {
    const w = await relayCall();
    await w.tells(...goodbye);
    await w.passes(300);
    if (close) {
      w.app.ws.close(1000);
      await w.app.closed;
    }
    await w.says('wait one more thing', 600);
    return w;
  }

  it.each([
    ['is not over yet', [text(LONG), END]],
    ['is over', [text(LONG, true), END]],
    ['is one sentence', [text('Goodbye my dear old friend from the far far away.'), END]],
  ])(
    'a caller who interrupts the goodbye of a ConversationRelay app, which %s, gets an answer',
    async (_, goodbye) => {
      await using w = await interruptedGoodbye(false, ...goodbye);
      expect(w.over).toEqual([]);
      let heard = await w.app.heard();
      while (heard.type !== 'prompt') heard = await w.app.heard();
      expect(heard.voicePrompt).toBe('wait one more thing');
      await w.tells(text('Yes, please?', true));
      await w.passes(1_000);
      expect(w.turns.at(-1)).toBe('assistant: Yes, please?');
      expect(w.over).toEqual([]);
      await w.tells(text('Bye.'), END);
      await w.passes(1_000);
      expect(w.over).toEqual(['agent_ended']);
    },
  );

  it('a caller who interrupts the goodbye of a disconnected ConversationRelay app is hung up', async () => {
    await using w = await interruptedGoodbye(true, text(LONG), END);
    await w.passes(300);
    expect(w.over).toEqual(['agent_ended']);
  });

  it('a caller who presses a key over an unfinished answer of a ConversationRelay app hears the whole answer to the key', async () => {
    await using w = await relayCall();
    await w.tells(text(`${LONG} `));
    await w.passes(300);
    w.call.media({ kind: 'digit', digit: '1' });
    await w.passes(40);
    const answer = `Sales. ${LONG} ${LONG}`;
    await w.tells(text(answer, true));
    await w.passes(6_000);
    expect(w.turns.at(-1)).toBe(`assistant: ${answer}`);
    expect(w.interruptions).toHaveLength(1);
  });

  it('a caller who presses a key before an answer of a ConversationRelay app begins hears that answer', async () => {
    await using w = await relayCall();
    await w.says('opening hours');
    expect(await w.app.heard()).toMatchObject({ voicePrompt: 'opening hours' });
    w.call.media({ kind: 'digit', digit: '1' });
    expect(await w.app.heard()).toEqual({ type: 'dtmf', digit: '1' });
    await w.tells(text('Nine to five.', true));
    await w.passes(3_000);
    expect(w.turns.at(-1)).toBe('assistant: Nine to five.');
  });
});
