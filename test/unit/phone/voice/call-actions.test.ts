import { describe, expect, it } from 'vitest';
import {
  actionPiece,
  CALL_TOOLS,
  type CallAction,
  readCallAction,
} from '../../../../src/phone/voice/call-actions.ts';

const read = (name: string, given: unknown) =>
  readCallAction({
    name,
    argumentsJson: typeof given === 'string' ? given : JSON.stringify(given),
  });

describe('the actions of a call', () => {
  it('call actions are read back from the function calls that they are written as', () => {
    const actions: readonly CallAction[] = [
      { name: 'end_call' },
      { name: 'send_digits', digits: '1wW*#9' },
      { name: 'transfer_call', to: '+14155550100', summary: 'A refund.' },
      { name: 'transfer_call', to: '+14155550100' },
      { name: 'gather_digits' },
      {
        name: 'gather_digits',
        maxDigits: 16,
        finishOnKey: '',
        timeoutSeconds: 20,
        sensitive: true,
      },
      { name: 'play_audio', url: 'https://a.example/hold.mp3' },
      { name: 'set_language', language: 'es-ES' },
    ];
    for (const action of actions) {
      expect(readCallAction(actionPiece(action))).toEqual({ kind: 'action', action });
    }
  });

  it('call actions do not include function calls of other names', () => {
    expect([read('get_weather', {}), read('toString', {}), read('__proto__', {})]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it('the end_call action ends a call also without arguments, or with arguments that it does not have', () => {
    const ended = { kind: 'action', action: { name: 'end_call' } };
    expect([read('end_call', ''), read('end_call', { reason: 'done' })]).toEqual([ended, ended]);
  });

  it.each([
    ['send_digits', { digits: '' }],
    ['send_digits', { digits: '1'.repeat(65) }],
    ['send_digits', { digits: '12a' }],
    ['send_digits', {}],
    ['transfer_call', { to: '4155550100' }],
    ['transfer_call', { to: '+1415; drop' }],
    ['transfer_call', { to: '+14155550100', summary: 'x'.repeat(2_001) }],
    ['gather_digits', { maxDigits: 0 }],
    ['gather_digits', { maxDigits: 33 }],
    ['gather_digits', { finishOnKey: '12' }],
    ['gather_digits', { timeoutSeconds: 61 }],
    ['gather_digits', { sensitive: 'yes' }],
    ['play_audio', { url: 'file:///etc/passwd' }],
    ['set_language', { language: '' }],
    ['end_call', '{'],
    ['end_call', '[1]'],
    ['end_call', 'null'],
  ])('a call action %s with the arguments %j is malformed', (name, given) => {
    expect(read(name, given)).toMatchObject({ kind: 'malformed', name });
  });

  it('a malformed call action names the wrong member', () => {
    expect(read('transfer_call', { to: '911' })).toMatchObject({
      message: 'to: must be a number such as +14155550100.',
    });
  });

  it('call actions are offered to a hosted model as tools that this server understands', () => {
    expect(CALL_TOOLS.map(({ name }) => name)).toEqual([
      'end_call',
      'send_digits',
      'gather_digits',
      'transfer_call',
    ]);
    for (const { name } of CALL_TOOLS) expect(read(name, '{')).toMatchObject({ kind: 'malformed' });
  });
});
