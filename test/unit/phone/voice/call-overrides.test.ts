import { describe, expect, it } from 'vitest';
import { ApiError } from '../../../../src/kernel/api-error.ts';
import {
  filled,
  readCallOverrides,
  voiceOfCall,
} from '../../../../src/phone/voice/call-overrides.ts';

const STORED = {
  voiceMode: 'hosted',
  systemPrompt: 'Stored.',
  beginMessage: 'Hi {{name}}.',
  voice: 'alloy',
  model: null,
  webhookUrl: null,
} as const;
const CATALOGUE = {
  find: (name: string) =>
    name === 'sold/talker' ? ({ id: name, modality: 'text' } as never) : undefined,
  findKeyed: () => undefined,
  suggest: () => ['sold/talker'],
};
/** The sentence of the refusal that some work throws. */
function refusalOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return String(error.fields.message);
    throw error;
  }
  return '';
}

const voiceWith = (body: Parameters<typeof readCallOverrides>[0]) =>
  voiceOfCall(CATALOGUE, STORED, readCallOverrides(body));

describe('the voice of one call', () => {
  it('a call without overrides has the texts of its agent as they are', () => {
    expect(voiceWith({})).toMatchObject(STORED);
  });

  it('an empty override text clears the text of the agent for one call', () => {
    expect(voiceWith({ beginMessage: '', systemPrompt: '' })).toMatchObject({
      beginMessage: null,
      systemPrompt: null,
    });
  });

  it("call variables fill the agent's stored texts, too, and variables inside a value are not filled", () => {
    const variables = { name: '{{other}}', other: 'x' };
    expect(voiceWith({ variables })).toMatchObject({ beginMessage: 'Hi {{other}}.' });
  });

  it('a call variable named like a member of Object.prototype has no value', () => {
    const fill = () => filled('beginMessage', '{{constructor}}', { variables: {}, mostChars: 100 });
    expect(refusalOf(fill)).toMatch(/"constructor" has no value/);
  });

  it('a call override with a model that is not sold is refused, with the nearest model that is sold', () => {
    expect(refusalOf(() => voiceWith({ model: 'sold/walker' }))).toMatch(
      /did you mean "sold\/talker"/,
    );
    expect(voiceWith({ model: 'sold/talker' })).toMatchObject({ model: 'sold/talker' });
  });

  it('a prompt for a call that a webhook answers is refused', () => {
    const hooked = { ...STORED, voiceMode: 'webhook', webhookUrl: 'https://a.example' } as const;
    const asked = (body: Parameters<typeof readCallOverrides>[0]) => () =>
      voiceOfCall(CATALOGUE, hooked, readCallOverrides(body));
    expect(refusalOf(asked({ systemPrompt: 'x' }))).toMatch(/systemPrompt: a webhook/);
    expect(refusalOf(asked({ model: 'sold/talker' }))).toMatch(/model: a webhook/);
    expect(asked({ beginMessage: 'Hello.' })).not.toThrow();
  });
});
