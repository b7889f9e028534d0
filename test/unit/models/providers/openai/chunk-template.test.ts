import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ChunkTemplate } from '../../../../../src/models/providers/openai/chunk-template.ts';

const eventOf = (chunk: object): Buffer => Buffer.from(`data: ${JSON.stringify(chunk)}\n\n`);

const saying = (content: unknown, { delta = {}, choice = {}, chunk = {} } = {}) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  choices: [{ index: 0, delta: { content, ...delta }, finish_reason: null, ...choice }],
  usage: null,
  ...chunk,
});

const TWO_CHOICES = [{ delta: { content: 'word' } }, { delta: {} }];

function remembering(chunk: object): ChunkTemplate {
  const alike = new ChunkTemplate();
  alike.remember(eventOf(chunk), chunk as Readonly<Record<string, unknown>>);
  return alike;
}

describe('chunks that are alike', () => {
  it('a chat chunk like one before is read without parsing', () => {
    const alike = remembering(saying('word '));
    expect(alike.textOf(eventOf(saying('another')))).toBe('another');
    expect(alike.textOf(eventOf(saying('')))).toBe('');
    expect(new ChunkTemplate().textOf(eventOf(saying('another')))).toBeUndefined();
  });

  it('a chat chunk read by template has the text that parsing finds', () => {
    const more = fc.record(
      {
        delta: fc.constantFrom({}, { role: 'assistant' }, { refusal: null }, { tool_calls: [] }),
        choice: fc.constantFrom({}, { finish_reason: 'stop' }, { logprobs: { content: [] } }),
        chunk: fc.constantFrom({}, { usage: {} }, { content: 'x' }, { error: {} }, { id: 'other' }),
      },
      { requiredKeys: [] },
    );
    const word = fc.constantFrom('', 'word', ' another', '{,}');
    const text = fc.oneof(word, fc.string(), fc.string({ unit: 'binary' }), fc.constant('"},{"'));
    let count = 0;
    fc.assert(
      fc.property(
        text,
        more,
        text,
        fc.option(more, { freq: 2 }),
        (first, itsMore, second, othersMore) => {
          const alike = remembering(saying(first, itsMore));
          const event = eventOf(saying(second, othersMore ?? itsMore));
          const read = alike.textOf(event);
          if (read === undefined) return;
          count++;
          const parsed = JSON.parse(event.subarray(6).toString('utf8')) as ReturnType<
            typeof saying
          >;
          expect(parsed).toEqual(saying(read, itsMore));
          expect(parsed.choices[0]).toMatchObject({ finish_reason: null });
          expect(parsed).not.toHaveProperty('error');
        },
      ),
      { numRuns: 2_000 },
    );
    expect(count).toBeGreaterThan(0);
  });

  it('a chat chunk whose text has a byte that JSON forbids is left to the parser', () => {
    const alike = remembering(saying('word'));
    const raw = eventOf(saying('a_b')).toString().replace('_', '\t');
    expect(() => JSON.parse(raw.slice(6))).toThrow(SyntaxError);
    expect(alike.textOf(Buffer.from(raw))).toBeUndefined();
  });

  it.each([
    ['an end', saying('word', { choice: { finish_reason: 'stop' } })],
    ['odds', saying('word', { choice: { logprobs: { refusal: [] } } })],
    ['thoughts', saying('word', { delta: { reasoning_content: 'so' } })],
    ['a call', saying('word', { delta: { tool_calls: [{ index: 0 }] } })],
    ['usage', saying('word', { chunk: { usage: { prompt_tokens: 1 } } })],
    ['an error', saying('word', { chunk: { error: { message: 'no' } } })],
    ['two choices', saying('word', { chunk: { choices: TWO_CHOICES } })],
    ['a second content', saying('word', { chunk: { meta: { content: 'word' } } })],
    ['a text that is escaped', saying('a "word"')],
    ['a list of parts', saying([{ text: 'word' }])],
    ['more than is remembered', saying('word', { chunk: { pad: 'x'.repeat(5_000) } })],
  ])('a chat chunk with %s is not used as a template', (_, chunk) => {
    expect(remembering(chunk).textOf(eventOf(chunk))).toBeUndefined();
  });

  it('a chat stream whose chunks differ stops looking for a template', () => {
    const alike = new ChunkTemplate();
    for (let nth = 0; nth < 4; nth++) {
      const chunk = saying('word', { chunk: { id: `chatcmpl-${nth}` } });
      expect(alike.textOf(eventOf(chunk))).toBeUndefined();
      alike.remember(eventOf(chunk), chunk);
    }
    const last = saying('word', { chunk: { id: 'chatcmpl-last' } });
    alike.remember(eventOf(last), last);
    expect(alike.textOf(eventOf(last))).toBeUndefined();
  });
});
