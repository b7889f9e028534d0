import { describe, expect, it } from 'vitest';
import { TextForSpeech } from '../../../../src/voice/speech-text/text-for-speech.ts';

describe('TextForSpeech', () => {
  it('TextForSpeech spells out English as people read it, and in other languages only strips the markup', () => {
    expect(new TextForSpeech('en-US').read('**It** is $5.')).toBe('It is five dollars.');
    expect(new TextForSpeech('es').read('**Son** $5.')).toBe('Son $5.');
    expect(new TextForSpeech(null).read('**Es** el precio: $5.')).toBe('Es el precio: $5.');
    expect(new TextForSpeech(null).read('The price: $5.')).toBe('The price: five dollars.');
  });

  it('TextForSpeech returns no speech for text without a word', () => {
    const speech = new TextForSpeech('en');
    expect(['|---|', '```js', '👍', '…'].map((text) => speech.read(text))).toEqual([
      '',
      '',
      '',
      '',
    ]);
  });
});
