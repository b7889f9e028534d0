import { describe, expect, it } from 'vitest';
import { maskSecrets } from '../../../../src/voice/recording/mask-secrets.ts';
import {
  drive,
  isInPieces,
  isLive,
  replaceListeners,
} from '../../../../src/voice/recording/stage.ts';

class Engine {
  voices = ['a'];
  speak() {}
}

describe('the stage between a session and its outside', () => {
  it('the recording stage distinguishes objects with methods from plain data', () => {
    const live = [
      new Engine(),
      { close() {} },
      Object.create({ close() {} }),
      (async function* () {})(),
    ];
    expect(live.map(isLive)).toEqual(live.map(() => true));
    const data = [
      null,
      7n,
      'x',
      [() => {}],
      { a: { close() {} } },
      Buffer.from('x'),
      new Date(0),
      Object.create(null),
    ];
    expect(data.map(isLive)).toEqual(data.map(() => false));
    expect([live[3], {}, 'text'].map(isInPieces)).toEqual([true, false, false]);
  });

  it('the recording stage replaces listeners in the arguments of a call, and nothing else', () => {
    const listener = { failed() {} };
    const other = { other: true };
    const replace = () => other;
    expect(replaceListeners('stt.open', [{ rate: 1, listener }, 'x'], replace)).toEqual([
      { rate: 1, listener: other },
      'x',
    ]);
    expect(replaceListeners('upstream.listen', [listener], replace)).toEqual([other]);
    const request = { charge: () => 1 };
    expect(replaceListeners('sessionHold.settle', [request], replace)[0]).toBe(request);
  });

  it('a recorded session that throws at a client message is closed, as its socket would close it', () => {
    const log: unknown[] = [];
    const session = {
      message(text: string) {
        throw new Error(`broke over ${text}`);
      },
      socketClosed: () => log.push('gone'),
    };
    const client = { close: (...args: unknown[]) => void log.push(args) };
    drive(session, {
      name: 'message',
      args: ['x'],
      client,
      failed: (error) => void log.push(String(error)),
    });
    expect(log).toEqual(['Error: broke over x', [1011, 'internal_error'], 'gone']);
  });
});

describe('masking', () => {
  it('maskSecrets removes credentials from events, text and bytes, and leaves all else unchanged', () => {
    const event = (value: string) =>
      `{"type":"session.update","Authorization": "${value}","api_key":"${value}","headers":{"x":"${value}"},"text":"token"}`;
    const masked =
      '{"type":"session.update","Authorization":"***","api_key":"***","headers":{},"text":"token"}';
    expect(maskSecrets(event('sk \\" x'))).toBe(masked);
    expect(maskSecrets(Buffer.from(event('sk')))).toEqual(Buffer.from(masked));
    expect(maskSecrets(masked)).toBe(masked);
    const bytes = Buffer.from([0, 255, 34]);
    expect(maskSecrets(bytes)).toBe(bytes);
    expect(maskSecrets('{"delta":"漢字"}')).toBe('{"delta":"漢字"}');
    expect(maskSecrets(7)).toBe(7);
  });

  it.each([
    ['nested headers', '{"headers":{"x-api-key":"sk-1","a":{"b":"}sk-2"}}}'],
    ['a header of its own', '{"x-api-key":"sk-1"}'],
    ['a user in an address', '{"server_url":"https://u:sk-1@host/"}'],
    ['a name with escapes', '{"authoriz\\u0061tion":"sk-1"}'],
    ['something behind a lot', `{"audio":"${'A'.repeat(300_000)}","token":"sk-1"}`],
    ['text that is cut short', '{"token":"sk-1","audio":"AA'],
    [
      'what is nested too deeply',
      `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)},"token":"sk-1"}`,
    ],
  ])('maskSecrets finds credentials in %s', (_, text) => {
    const masked = maskSecrets(text);
    expect(masked).not.toContain('sk-');
    expect(maskSecrets(masked)).toBe(masked);
  });
});
