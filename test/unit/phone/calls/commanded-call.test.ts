import { describe, expect, it } from 'vitest';
import { phoneCall } from '../../../support/phone-line.ts';

describe('a live call that a developer follows and commands', () => {
  it('a live call publishes words as they are heard and as they are spoken, before the turn is complete', async () => {
    const words: string[] = [];
    const { answers, engines, passes, says } = await phoneCall({
      events: { words: (role, text) => words.push(`${role}: ${text}`) },
    });
    engines.stt.pocketsphinx.interim = () => 'how are';
    answers('Fine thanks.');
    await says('how are you');
    await passes(600);
    expect(words).toContain('user: how are');
    expect(words.filter((text) => text.startsWith('assistant'))).toEqual([
      'assistant: Fine thanks.',
    ]);
  });

  it('the model reads a system message with its next answer, also after another process has taken the call over', async () => {
    const before = await phoneCall({ change: { injected: ['The caller is Ann.'] } });
    before.call.commands.obey({ kind: 'inject', text: 'Offer a refund.', respond: false });
    before.answers('Fine thanks.');
    await before.says('how are you');
    await before.passes(600);
    expect(before.prompt()).toEqual(['The caller is Ann.', 'Offer a refund.', 'how are you']);
  });

  it('a say command that interrupts replaces the present answer of a live call', async () => {
    const { answers, call, passes, says, turns } = await phoneCall();
    answers('One two three four. Five six seven eight.');
    await says('count');
    await passes(300);
    call.commands.obey({ kind: 'say', text: 'Stop there.', interrupt: true });
    await passes(600);
    expect(turns.at(-1)).toBe('assistant: Stop there.');
  });

  it('a live call that waits for an answering machine ignores say commands', async () => {
    const { call, passes, turns } = await phoneCall();
    call.actions.mute();
    call.commands.obey({ kind: 'say', text: 'Hello.', interrupt: false });
    await passes(400);
    expect(turns).toEqual([]);
  });

  it('texts and answers that commands request during an answer follow that answer, in the order of the commands', async () => {
    const { answers, call, passes, prompt, turns } = await phoneCall();
    answers('Gladly.');
    call.commands.obey({ kind: 'say', text: 'One moment.', interrupt: false });
    call.commands.obey({ kind: 'say', text: 'We close at six.', interrupt: false });
    call.commands.obey({ kind: 'inject', text: 'Offer a refund.', respond: true });
    await passes(4_000);
    expect(turns).toEqual([
      'assistant: One moment.',
      'assistant: We close at six.',
      'assistant: Gladly.',
    ]);
    expect(prompt()).toContain('Offer a refund.');
  });

  it('a say command that interrupts goes before the commands that wait', async () => {
    const { call, passes, turns } = await phoneCall();
    call.commands.obey({ kind: 'say', text: 'One two three four five six.', interrupt: false });
    call.commands.obey({ kind: 'say', text: 'We close at six.', interrupt: false });
    call.commands.obey({ kind: 'say', text: 'Stop there.', interrupt: true });
    await passes(4_000);
    expect(turns.slice(-2)).toEqual(['assistant: Stop there.', 'assistant: We close at six.']);
  });
});
