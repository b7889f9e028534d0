import { describe, expect, it } from 'vitest';
import { relayCall } from '../../support/relay-call.ts';

const text = (token: string, more: object = {}) => ({ type: 'text', token, last: false, ...more });
const LAST = text('', { last: true });
const LONG =
  'One two three four. Five six seven eight. Nine ten eleven twelve. One two three four.';

/** The types of the messages that have come by now, and the words of interrupts and keys of digits. */
async function heardBy(w: Awaited<ReturnType<typeof relayCall>>, count: number) {
  const messages = [];
  for (let i = 0; i < count; i++) messages.push(await w.app.heard());
  return messages;
}

describe('an application of ConversationRelay that streams tokens', () => {
  it('a ConversationRelay app that streams tokens is heard before its answer ends, and its words are one turn', async () => {
    await using w = await relayCall();
    await w.says('hello', 400);
    expect(await w.app.heard()).toMatchObject({ type: 'prompt', voicePrompt: 'hello', last: true });
    const saidAtMs = w.clock.monotonicMs();
    await w.tells(text('Hel'), text('lo there.'), text(' How'));
    await w.passes(200);
    expect(w.callee.heardMs(saidAtMs)).toBeGreaterThan(0);
    await w.tells(text(' are you?'), LAST);
    await w.passes(2_000);
    expect(w.turns).toEqual(['user: hello', 'assistant: Hello there. How are you?']);
  });
});

describe('an application of ConversationRelay that never sends a last token', () => {
  it('an answer without a last token is spoken half a second after its sentence, and the next prompt needs no interrupt', async () => {
    await using w = await relayCall();
    await w.says('hello', 400);
    await w.app.heard();
    const saidAtMs = w.clock.monotonicMs();
    await w.tells(text('Good'), text(' day.'));
    await w.passes(500);
    expect(w.callee.heardMs(saidAtMs)).toBeGreaterThan(0);
    await w.passes(2_500);
    await w.says('your hours please', 600);
    expect(await w.app.heard()).toMatchObject({ type: 'prompt', voicePrompt: 'your hours please' });
    await w.tells(text('Nine to five.'));
    await w.passes(12_000);
    // An answer is told whole once it is over, here with the caller's next words.
    expect(w.turns).toEqual([
      'user: hello',
      'user: your hours please',
      'assistant: Good day.',
      'assistant: Nine to five.',
    ]);
    expect(w.interruptions).toEqual([]);
  });

  it('an answer without a last token is spoken 1.5 seconds after words that end no sentence', async () => {
    await using w = await relayCall();
    await w.says('hello', 400);
    await w.app.heard();
    const saidAtMs = w.clock.monotonicMs();
    await w.tells(text('one moment'));
    await w.passes(1_300);
    expect(w.callee.heardMs(saidAtMs)).toBe(0);
    await w.passes(400);
    expect(w.callee.heardMs(saidAtMs)).toBeGreaterThan(0);
  });
});

describe('an application of ConversationRelay that handles keys and interrupts', () => {
  it('a ConversationRelay app gets each key, and the words that were heard of an interrupted answer', async () => {
    await using w = await relayCall();
    await w.tells(text(LONG), LAST);
    await w.passes(600);
    for (const digit of '12') w.call.media({ kind: 'digit', digit });
    const [interrupt, ...keys] = await heardBy(w, 3);
    expect(interrupt).toMatchObject({ type: 'interrupt' });
    expect(LONG.startsWith(String(interrupt?.utteranceUntilInterrupt))).toBe(true);
    expect(interrupt?.durationUntilInterruptMs).toBeGreaterThan(0);
    expect(keys).toEqual(['1', '2'].map((digit) => ({ type: 'dtmf', digit })));
    await w.tells(text('You pressed twelve.'), LAST);
    await w.passes(2_000);
    expect(w.turns.at(-1)).toBe('assistant: You pressed twelve.');
  });

  it('a ConversationRelay app whose streamed answer the caller interrupts gets the heard words before the prompt, and its reply is heard', async () => {
    await using w = await relayCall();
    await w.says('hello', 400);
    await w.app.heard();
    await w.tells(text(`${LONG} `));
    await w.passes(600);
    await w.says('stop it now please', 600);
    const [interrupt, prompt] = await heardBy(w, 2);
    expect(interrupt).toMatchObject({ type: 'interrupt' });
    const heard = String(interrupt?.utteranceUntilInterrupt);
    expect(LONG.startsWith(heard)).toBe(true);
    expect(heard.length).toBeLessThan(LONG.length);
    expect(prompt).toMatchObject({ type: 'prompt', voicePrompt: 'stop it now please' });
    await w.tells(text('I have '), text('stopped.'), LAST);
    await w.passes(2_000);
    expect(w.turns.at(-1)).toBe('assistant: I have stopped.');
    expect(w.interruptions).toHaveLength(1);
  });

  it('a ConversationRelay answer marked as not interruptible is heard whole, and the words and keys are delivered afterwards', async () => {
    await using w = await relayCall();
    await w.tells(text(LONG, { interruptible: false }), LAST);
    await w.passes(300);
    w.call.media({ kind: 'digit', digit: '5' });
    await w.says('stop it now please', 600);
    await w.passes(4_000);
    expect(w.interruptions).toEqual([]);
    expect(w.clears).toEqual([]);
    expect(await heardBy(w, 2)).toEqual([
      { type: 'dtmf', digit: '5' },
      expect.objectContaining({ type: 'prompt', voicePrompt: 'stop it now please' }),
    ]);
    expect(w.turns).toContain('user: stop it now please');
    expect(w.turns).toContain(`assistant: ${LONG}`);
  });

  it('a ConversationRelay app cuts short only the message that it marked as preemptible, by its next message', async () => {
    await using w = await relayCall();
    await w.tells(text(LONG, { preemptible: true, last: true }));
    await w.passes(300);
    await w.tells(text('Here it is.', { last: true }));
    await w.passes(3_000);
    expect(w.turns.at(-1)).toBe('assistant: Here it is.');
    expect(w.clears).toHaveLength(1);
    expect(w.interruptions).toEqual([]);
    await w.tells(text(LONG, { last: true }));
    await w.passes(300);
    await w.tells(text('Goodbye.', { last: true }));
    await w.passes(4_000);
    expect(w.clears).toHaveLength(1);
    expect(w.turns.slice(-2)).toEqual([`assistant: ${LONG}`, 'assistant: Goodbye.']);
  });

  it('a ConversationRelay app leaves its handoff data to the developer at the end of the call', async () => {
    await using w = await relayCall();
    const handoffData = JSON.stringify({ reasonCode: 'live-agent-handoff' });
    await w.tells(text('Goodbye.'), LAST, { type: 'end', handoffData });
    await w.passes(2_000);
    expect(w.handedOver).toEqual([handoffData]);
    expect(w.over).toEqual(['agent_ended']);
  });
});
