import { expect, it } from 'vitest';
import { parseClientMessage } from '../../../src/protocols/client-message.ts';

it('a client message must be a JSON object of bounded length', () => {
  expect(parseClientMessage('{"type":"KeepAlive"}')).toEqual({ type: 'KeepAlive' });
  const long = JSON.stringify({ type: 'KeepAlive', more: 'x'.repeat(1_024) });
  for (const text of ['', 'hello', 'null', '[]', '1', '{', long]) {
    expect(parseClientMessage(text)).toBeUndefined();
  }
});
