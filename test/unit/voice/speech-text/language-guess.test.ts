import { describe, expect, it } from 'vitest';
import { LanguageGuess } from '../../../../src/voice/speech-text/language-guess.ts';

describe('LanguageGuess', () => {
  it.each([
    ['Your total is $5, and that is all.', true],
    ['OK, 5.', true],
    ['Cuesta $5 por mes y es todo.', false],
    ['Das kostet 5 € und ist nicht viel.', false],
    ['价格是 5 元。', false],
    ['Это стоит 5.', false],
  ])('LanguageGuess decides whether %j is English', (text, isEnglish) => {
    expect(new LanguageGuess().isEnglish(text)).toBe(isEnglish);
  });

  it('LanguageGuess decides by the sentences before when a sentence has no telling word', () => {
    const guess = new LanguageGuess();
    guess.isEnglish('Gracias por su llamada, el precio es:');
    expect(guess.isEnglish('$5.')).toBe(false);
  });
});
