import { describe, expect, it } from 'vitest';
import { silentLog } from '../../../../../src/kernel/log.ts';
import { buildCatalogue } from '../../../../../src/models/catalogue/build-catalogue.ts';
import { BUILTIN_MODELS } from '../../../../../src/models/catalogue/builtin/models.ts';
import { BUILTIN_PROVIDERS } from '../../../../../src/models/catalogue/builtin/providers.ts';
import { type ActedRecorder, carryOut } from '../../../../../src/phone/calls/actions/carry-out.ts';
import { NOT_REACHED } from '../../../../../src/phone/calls/actions/live-actions.ts';
import type { Call } from '../../../../../src/phone/calls/call.ts';
import type { CallDeps } from '../../../../../src/phone/calls/call-deps.ts';
import { CarrierFailed, type TransferOrder } from '../../../../../src/phone/carriers/carrier.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import { phoneCall } from '../../../../support/phone-line.ts';
import { tone } from '../../../../support/voice-fakes.ts';
import { settleAll } from '../../../../support/voice-world.ts';

const CALL = { callId: 'CA1', carrierCallId: 'LB1', accountId: 'acct' } as Call;
const TO = '+14155550123';
const NOT_GATHERED =
  '[keypad] No digits were gathered: the keys cannot be used now, because the call is recorded.';

/** A live call, the carrier that actions ask, and a database that takes every write. */
async function acted(
  options: {
    readonly beginMessage?: string;
    readonly pauseFails?: boolean;
    /** The carrier pauses its recording once this is so. */
    readonly paused?: Promise<void>;
    readonly finishFails?: boolean;
    readonly transfer?: () => Promise<void>;
  } = {},
) {
  const world = await phoneCall(options);
  const asked: string[] = [];
  const written: string[] = [];
  const warned: string[] = [];
  const carrier = {
    calls: {
      sendDigits: async (_: unknown, digits: string) => void asked.push(`digits ${digits}`),
      async transfer(_: unknown, { longestSeconds, to, whispers }: TransferOrder) {
        await options.transfer?.();
        asked.push(`transfer ${to} ${longestSeconds} ${whispers}`);
      },
    },
  };
  const deps = {
    clock: world.clock,
    carrier,
    catalogue: buildCatalogue({
      providers: new Map(Object.entries(BUILTIN_PROVIDERS)),
      models: BUILTIN_MODELS,
      secret: () => undefined,
    }),
    models: { stt: 'local/pocketsphinx', tts: 'local/flite', llm: 'local/guide' },
    live: new Map([['CA1', world.call]]),
    log: { ...silentLog, warn: (_: unknown, text: string) => warned.push(text) },
    refusalOf: async (to: string) => (to === TO ? undefined : { message: 'it is not called' }),
    openSound: async () => ({ sampleRateHz: 8_000, blocks: [tone(300, 8_000)] }),
    sql: async (texts: readonly string[], ...values: unknown[]) => {
      written.push(`${texts[0]?.trim().split(' ').slice(0, 4).join(' ')} ${values[0]}`);
      return [];
    },
  } as unknown as CallDeps;
  const failed = new CarrierFailed('away', 'no answer');
  const recorder: ActedRecorder = {
    async pause() {
      await options.paused;
      if (options.pauseFails) throw failed;
      asked.push('pause');
    },
    resume: () => void asked.push('resume'),
    async finish() {
      if (options.finishFails) throw failed;
    },
    stop: () => void asked.push('stop'),
  };
  const act = async (action: Parameters<typeof carryOut>[3]) => {
    carryOut(deps, CALL, { recorder, transferSeconds: () => 840 }, action);
    await settleAll();
  };
  return { ...world, act, asked, warned, written };
}

it('a send_digits action presses its keys once the words before it are heard', async () => {
  const { act, asked, passes } = await acted({ beginMessage: 'One two three four five six.' });
  await passes(200);
  await act({ name: 'send_digits', digits: '1#' });
  await passes(200);
  expect(asked).toEqual([]);
  await passes(600);
  expect(asked).toEqual(['digits 1#']);
});

it('a transfer stores its summary before it calls the carrier, and requests a whisper when there is a summary', async () => {
  const { act, asked, call, written } = await acted();
  await act({ name: 'transfer_call', to: TO, summary: 'A refund.' });
  expect(written[0]).toBe('update calls set transfer_summary A refund.');
  expect(asked).toEqual([`transfer ${TO} 840 true`]);
  expect(call.actions.isTransferring).toBe(true);
  await act({ name: 'transfer_call', to: TO });
  expect(asked).toHaveLength(1);
});

it('a transfer without a summary stores a null summary, and requests no whisper', async () => {
  const { act, asked, written } = await acted();
  await act({ name: 'transfer_call', to: TO });
  expect(written[0]).toBe('update calls set transfer_summary null');
  expect(asked).toEqual([`transfer ${TO} 840 false`]);
});

it('a transfer that the carrier refuses is reported to the caller and to the responder', async () => {
  const { act, answers, call, passes, prompt, says, warned } = await acted({
    async transfer() {
      throw new CarrierFailed('refused', 'no');
    },
  });
  await act({ name: 'transfer_call', to: TO });
  expect(call.actions.isTransferring).toBe(false);
  expect(warned).toEqual(['an action of a call failed']);
  await passes(800);
  answers('Well.');
  await says('and now');
  expect(prompt()).toEqual([
    '[transfer] The other person was not reached: failed.',
    NOT_REACHED,
    'and now',
  ]);
});

it.each([
  ['refused', ['error'], false],
  ['away', [], true],
] as const)(
  'a carrier that has stopped the stream and then is %s ends the call by %j, unless the carrier reopens the stream',
  async (kind, reasons, isTransferring) => {
    const { act, call, over, passes } = await acted({
      async transfer() {
        call.detached();
        throw new CarrierFailed(kind, 'no');
      },
    });
    await act({ name: 'transfer_call', to: TO });
    await passes(500);
    expect(over).toEqual([]);
    await passes(PHONE_LIMITS.call.lineLostMs);
    expect(over).toEqual(reasons);
    expect(call.actions.isTransferring && reasons.length === 0).toBe(isTransferring);
  },
);

it('a transfer to a number that may not be called is not placed, and the caller hears why', async () => {
  const { act, asked, engines, passes } = await acted();
  await act({ name: 'transfer_call', to: '+19005550100' });
  await passes(500);
  expect(asked).toEqual([]);
  expect(engines.tts.flite.spoken).toEqual(['I cannot connect you: it is not called.']);
});

it('a play_audio action plays the named file to the callee', async () => {
  const { act, callee, passes } = await acted();
  await act({ name: 'play_audio', url: 'https://a.example/hold.wav' });
  await passes(600);
  expect(callee.heardMs()).toBe(300);
});

it('a gather_digits action applies its own rules beside the default rules', async () => {
  const { act, call, passes, prompt } = await acted();
  await act({ name: 'gather_digits', finishOnKey: '*', sensitive: true });
  for (const digit of '12#3*') call.media({ kind: 'digit', digit });
  await passes(100);
  expect(prompt()).toEqual(['[keypad] 4 digits entered']);
});

it('a recorded call pauses its recording while sensitive keys are gathered', async () => {
  const { act, asked, call, passes } = await acted();
  await act({ name: 'gather_digits' });
  expect(asked).toEqual([]);
  await act({ name: 'gather_digits', sensitive: true });
  expect(asked).toEqual(['pause']);
  for (const digit of '12#') call.media({ kind: 'digit', digit });
  await passes(100);
  expect(asked).toEqual(['pause', 'resume']);
});

it('a set_language action with an unsupported language changes nothing, and the responder is told', async () => {
  const { act, answers, call, prompt, says, warned } = await acted();
  await act({ name: 'set_language', language: 'es-ES' });
  await act({ name: 'set_language', language: 'en-GB' });
  expect(call.config.transcriptionLanguage).toBe('en');
  expect(warned).toEqual(['the language of a call stays']);
  answers('Yes.');
  await says('hello');
  expect(prompt()).toEqual([
    '[language] es-ES is not available; the language stays as it is.',
    'hello',
  ]);
});

it('a gather_digits action for sensitive keys is refused while the carrier may record them, and the responder is told', async () => {
  const { act, answers, call, passes, prompt, warned } = await acted({ pauseFails: true });
  answers('Then tell me.');
  await act({ name: 'gather_digits', sensitive: true });
  await passes(200);
  expect(call.actions.isGathering).toBe(false);
  expect(prompt()).toEqual([NOT_GATHERED]);
  expect(warned).toEqual(['an action of a call failed']);
});

describe('sensitive keys that are pressed before the carrier has paused its recording', () => {
  async function pressedEarly(pauseFails: boolean) {
    let pause = () => {};
    const paused = new Promise<void>((resolve) => {
      pause = resolve;
    });
    const world = await acted({ pauseFails, paused });
    const press = (keys: string) => {
      for (const digit of keys) world.call.media({ kind: 'digit', digit });
    };
    await world.act({ name: 'gather_digits', sensitive: true });
    press('4111');
    await world.passes(PHONE_LIMITS.keypad.pauseMs + 500);
    expect(world.engines.guide.asked).toEqual([]);
    world.answers('Please tell me the number.');
    pause();
    await settleAll();
    return { ...world, press };
  }

  it('sensitive keys pressed before the carrier paused its recording are kept for the entry', async () => {
    const { asked, passes, press, prompt } = await pressedEarly(false);
    press('22#');
    await passes(100);
    expect(prompt()).toEqual(['[keypad] 6 digits entered']);
    expect(asked).toEqual(['pause', 'resume']);
  });

  it('sensitive keys pressed before a recording that cannot be paused are dropped until the keypad is idle', async () => {
    const { engines, passes, press, prompt } = await pressedEarly(true);
    press('222233#');
    await passes(2_000);
    press('4444');
    await passes(PHONE_LIMITS.keypad.restMs + 100);
    expect(prompt()).toEqual([NOT_GATHERED]);
    expect(engines.tts.flite.spoken).toEqual(['Please tell me the number.']);
    press('1#');
    await passes(200);
    expect(prompt().at(-1)).toBe('[keypad] 1#');
    expect(prompt().join()).not.toMatch(/2222|4444|4111/);
  });
});

it('a stream that send_digits interrupts may stay away for the length of the digits', async () => {
  const { act, call, connection, over, passes } = await acted();
  const digits = 'W'.repeat(20);
  await act({ name: 'send_digits', digits });
  call.detached();
  await passes(20_000 + PHONE_LIMITS.call.lineLostMs - 1_000);
  expect(over).toEqual([]);
  call.attach(connection);
  await passes(PHONE_LIMITS.carrier.timeoutMs + 2_000);
  call.detached();
  await passes(PHONE_LIMITS.call.lineLostMs + 100);
  expect(over).toEqual(['client left']);
});

it('a call whose recording cannot be ended is not transferred to a person who was not told of the recording', async () => {
  const { act, asked, call, warned } = await acted({ finishFails: true });
  await act({ name: 'transfer_call', to: TO });
  expect(asked).toEqual([]);
  expect(call.actions.isTransferring).toBe(false);
  expect(warned).toEqual(['an action of a call failed']);
});

it('a stop_recording action stops the recording when the callee does not agree', async () => {
  const { act, asked } = await acted();
  await act({ name: 'stop_recording' });
  expect(asked).toEqual(['stop']);
});
