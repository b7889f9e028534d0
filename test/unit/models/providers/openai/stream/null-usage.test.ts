import { expect, it } from 'vitest';
import { withoutNullUsage } from '../../../../../../src/models/providers/openai/stream/null-usage.ts';

const rewritten = (event: string) => withoutNullUsage(Buffer.from(event)).toString();

it('a chat event loses a null usage of its top-level object, wherever the member stands', () => {
  expect(rewritten('data: {"choices":[],"usage":null}\n\n')).toBe('data: {"choices":[]}\n\n');
  expect(rewritten('data: {"usage": null, "choices": []}\n\n')).toBe('data: { "choices": []}\n\n');
  expect(rewritten('data: {"a":1,"usage":null,"obfuscation":"x"}\n\n')).toBe(
    'data: {"a":1,"obfuscation":"x"}\n\n',
  );
  expect(rewritten('data: {"usage":null}\n\n')).toBe('data: {}\n\n');
  expect(rewritten('data: {"a":1 , "usage" : null }\r\n\r\n')).toBe('data: {"a":1  }\r\n\r\n');
});

it('a chat event keeps a usage that is not null or not of its top-level object', () => {
  for (const event of [
    'data: {"choices":[],"usage":{"prompt_tokens":1}}\n\n',
    'data: {"choices":[{"delta":{"content":"\\"usage\\":null"}}]}\n\n',
    'data: {"choices":[{"usage":null}],"id":"x"}\n\n',
    'data: {"choices":[{"delta":{"arguments":{"usage":null}}}]}\n\n',
    'data: {"id":"usage"}\n\n',
    ': "usage":null\n\n',
    'data: [DONE]\n\n',
  ]) {
    expect(rewritten(event)).toBe(event);
  }
});
