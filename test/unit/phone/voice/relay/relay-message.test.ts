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
    [{ type: 'end' }, { kind: 'action', action: { name: 'end_call' } }],
    [
      { type: 'end', handoffData: { any: 'thing' } },
      { kind: 'action', action: { name: 'end_call', handoffData: '{"any":"thing"}' } },
    ],
    [
      { type: 'text', token: 'Hi', interruptible: 'none', preemptible: true },
      { kind: 'text', token: 'Hi', isInterruptible: false, isPreemptible: true },
    ],
    [
      { type: 'play', source: 'https://a.example/x.mp3', interruptible: true },
      { kind: 'action', isInterruptible: true, isPreemptible: false },
    ],
  ])('the ConversationRelay message %j is read', (message, expected) => {
    expect(read(message)).toMatchObject(expected);
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
    [{ type: 'end', handoffData: 'x'.repeat(16_385) }],
    [{ type: 'text', token: 'x', interruptible: 'perhaps' }],
    [{ type: 'language' }],
    [{ type: 'language', ttsLanguage: '../../etc' }],
    [`${'['.repeat(10_000)}`],
  ])('the ConversationRelay message %j is not a valid message', (message) => {
    expect(read(message)).toBeUndefined();
  });
});
