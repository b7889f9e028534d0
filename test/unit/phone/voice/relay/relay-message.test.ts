import { describe, expect, it } from 'vitest';
import { readRelayMessage } from '../../../../../src/phone/voice/relay/relay-message.ts';

const read = (message: unknown) =>
  readRelayMessage(Buffer.from(typeof message === 'string' ? message : JSON.stringify(message)));

describe('a message of a relay application', () => {
  it.each([
    [
      { type: 'text', token: 'Hi' },
      { kind: 'text', token: 'Hi', isLast: false },
    ],
    [
      { type: 'text', token: '', last: true },
      { kind: 'text', token: '', isLast: true },
    ],
    [
      { type: 'play', source: 'https://a.example/x.mp3', loop: 2, preemptible: true },
      { kind: 'action', action: { name: 'play_audio', url: 'https://a.example/x.mp3' } },
    ],
    [
      { type: 'sendDigits', digits: '9www4085551212#' },
      { kind: 'action', action: { name: 'send_digits', digits: '9www4085551212#' } },
    ],
    [
      { type: 'language', transcriptionLanguage: 'sv-SE' },
      { kind: 'action', action: { name: 'set_language', language: 'sv-SE' } },
    ],
    [
      { type: 'end', handoffData: { any: 'thing' } },
      { kind: 'action', action: { name: 'end_call' } },
    ],
  ])('%j is understood', (message, expected) => {
    expect(read(message)).toEqual(expected);
  });

  it.each([
    ['not json'],
    ['null'],
    [[]],
    [{}],
    [{ type: 'say', text: 'Hi' }],
    [{ type: 'text' }],
    [{ type: 'text', token: 5 }],
    [{ type: 'text', token: 'x'.repeat(16_385) }],
    [{ type: 'text', token: 'x', last: 'true' }],
    [{ type: 'sendDigits', digits: 'call me' }],
    [{ type: 'play', source: 'javascript:alert(1)' }],
    [{ type: 'language' }],
    [{ type: 'language', ttsLanguage: '../../etc' }],
    [`${'['.repeat(10_000)}`],
  ])('%j is none', (message) => {
    expect(read(message)).toBeUndefined();
  });
});
