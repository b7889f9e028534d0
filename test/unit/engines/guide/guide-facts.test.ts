import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askedFact, stateFact } from '../../../../src/engines/guide/guide-facts.ts';

const facts = { agentName: 'a', spendableRaw: 4_992_650n, heldRaw: 0n, spentRaw: 7_350n };

describe('guide facts', () => {
  it.each([
    'what is my balance',
    'whats my balance please',
    'and what is my balances',
    'but is my palace',
    'what is my violence',
    'what his my balanced right now',
    'what is my valence',
    'how much money do i have left',
    'so much money do i have left',
    'how much is left',
    'how much have i got',
  ])('the guide hears the question for the balance in "%s"', (question) => {
    expect(askedFact(question)).toBe('balance');
  });

  it('the guide hears the question for the balance though a third of its words are wrong', () => {
    const words = ['can', 'you', 'tell', 'me', 'what', 'my', 'balance', 'is', 'now'];
    const wrong = ['the', 'a', 'tall', 'meat', 'white', 'it', 'cow', 'knew'];
    const frame = fc.shuffledSubarray([0, 1, 2, 4, 7, 8], { maxLength: 3 });
    fc.assert(
      fc.property(frame, fc.array(fc.constantFrom(...wrong), { minLength: 3 }), (at, instead) => {
        const heard = words.map((word, i) => (at.includes(i) ? instead[at.indexOf(i)] : word));
        expect(askedFact(heard.join(' '))).toBe('balance');
      }),
    );
  });

  it.each([
    ['how much have I spent', 'spent'],
    ['how much did i spend today', 'spent'],
    ['how much of my money is on hold', 'held'],
    ['how do I limit what my agent spends', undefined],
    ['how do i add money to my account', undefined],
    ['he was not an ill disposed young man', undefined],
    ['what does a phone number cost', undefined],
    ['what is my weather', undefined],
    ['can i please have my police report', undefined],
  ])('the guide takes "%s" for a question about: %s', (question, fact) => {
    expect(askedFact(question)).toBe(fact);
  });

  it('the guide says an amount in dollars and cents, rounded down, and exactly in USDC', () => {
    const spent = (spentRaw: bigint) => stateFact('spent', { ...facts, spentRaw });
    expect(spent(4_992_650n)).toBe(
      'You have spent 4 dollars and 99 cents, exactly 4.992650 USDC so far.',
    );
    expect(spent(1_010_000n)).toBe(
      'You have spent 1 dollar and 1 cent, exactly 1.010000 USDC so far.',
    );
    expect(spent(7_350n)).toBe('You have spent less than a cent, exactly 0.007350 USDC so far.');
    expect(spent(0n)).toBe('You have spent 0 dollars, exactly 0.000000 USDC so far.');
  });

  it('the guide mentions held money with the balance only when some is held', () => {
    expect(stateFact('balance', facts)).toBe(
      'Your balance is 4 dollars and 99 cents, exactly 4.992650 USDC.',
    );
    expect(stateFact('balance', { ...facts, heldRaw: 50_000n })).toContain('0.050000 USDC more');
    expect(stateFact('spent', facts)).toContain('0.007350');
    expect(stateFact('held', facts)).toBe('Nothing of yours is on hold.');
  });
});
