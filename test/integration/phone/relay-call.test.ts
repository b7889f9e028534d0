import { describe, expect, it } from 'vitest';
import { relayCall } from '../../support/relay-call.ts';

const text = (token: string, last = false) => ({ type: 'text', token, last });
const END = { type: 'end' };
const LONG =
  'One two three four. Five six seven eight. Nine ten eleven twelve. One two three four.';

describe('what an application of ConversationRelay says unasked', () => {
  it('while it is being heard is said after that, and its end is the end of the call', async () => {
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

  it('during the greeting is said after it', async () => {
    await using w = await relayCall({ beginMessage: LONG });
    await w.tells(text('How can I help?', true));
    await w.passes(4_000);
    expect(w.turns).toEqual([`assistant: ${LONG}`, 'assistant: How can I help?']);
  });

  it('during the notice of a recording is said after the greeting', async () => {
    await using w = await relayCall({ notice: LONG, beginMessage: 'Hello there.' });
    await w.tells(text('How can I help?', true));
    await w.passes(4_000);
    expect(w.turns.slice(1)).toEqual(['assistant: Hello there.', 'assistant: How can I help?']);
  });

  it('ends the call where it breaks while it is being heard', async () => {
    await using w = await relayCall();
    await w.tells(text(LONG, true));
    await w.passes(100);
    w.app.say(...[1, 2, 3].map(() => ({ type: 'nonsense' })));
    await w.app.closed;
    await w.passes(4_000);
    expect(w.over).toEqual(['llm_refused']);
  });
});
