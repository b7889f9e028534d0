import { describe, expect, it } from 'vitest';
import { documentsOf } from '../../../src/memory/app-knowledge.ts';

describe('appKnowledge', () => {
  it('appKnowledge becomes a list of documents from each form that it may have', () => {
    const document = { text: 'a', title: 't' };
    expect(documentsOf([document, 'b'])).toEqual([document, { text: 'b' }]);
    expect(documentsOf(document)).toEqual([document]);
    expect(documentsOf({ content: 'a' })).toEqual([{ content: 'a' }]);
    expect(documentsOf('b')).toEqual([{ text: 'b' }]);
    expect(documentsOf({ documents: ['b'] })).toEqual([{ text: 'b' }]);
    expect(documentsOf({ rules: document, more: 'b' })).toEqual([
      { id: 'rules', ...document },
      { id: 'more', text: 'b' },
    ]);
  });

  it('appKnowledge in an invalid form is passed on unchanged to the validation', () => {
    expect(documentsOf(7)).toBe(7);
    expect(documentsOf([7, null])).toEqual([7, null]);
    expect(documentsOf({ a: 7 })).toEqual([7]);
  });
});
