import { describe, expect, it } from 'vitest';
import { NOT_REACHED } from '../../../../../src/phone/calls/actions/live-actions.ts';
import type { LiveCallOptions } from '../../../../../src/phone/calls/live-call-options.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import { phoneCall } from '../../../../support/phone-line.ts';
import { tone } from '../../../../support/voice-fakes.ts';

const COUNT = 'One two three four. Five six seven eight.';
const GATHER = { maxDigits: 16, finishOnKey: '#', timeoutMs: 10_000, isSensitive: false };

type Events = LiveCallOptions['events'];

const events = (change: Partial<Events>): { change: Partial<LiveCallOptions> } => ({
  change: {
    events: {
      said() {},
      act() {},
      digit() {},
      heard() {},
      interrupted() {},
      attached() {},
      detached() {},
      over() {},
      ...change,
    },
  },
});

const press = ({ call }: Awaited<ReturnType<typeof phoneCall>>, keys: string) => {
  for (const digit of keys) call.media({ kind: 'digit', digit });
};

describe('what is left to a machine', () => {
  it('a message for an answering machine is spoken whole in place of the current speech, though audio and keys arrive', async () => {
    const world = await phoneCall({ beginMessage: `${COUNT} ${COUNT}` });
    const { call, callee, engines, over, passes, turns } = world;
    await passes(600);
    call.actions.leave('Please call me back.', 'voicemail_reached');
    callee.speak(700);
    press(world, '12#');
    await passes(300);
    expect(over).toEqual([]);
    await passes(900);
    expect(engines.tts.flite.spoken.at(-1)).toBe('Please call me back.');
    expect(over).toEqual(['voicemail_reached']);
    expect(engines.guide.asked).toEqual([]);
    expect(turns.at(-1)).toBe('assistant: Please call me back.');
    expect(turns.filter((turn) => turn.startsWith('user'))).toEqual([]);
  });

  it("a call that waits for a machine's greeting is silent: no speech, no request to the model, no prompt to the caller", async () => {
    const { call, callee, engines, over, passes } = await phoneCall({ beginMessage: COUNT });
    await passes(400);
    call.actions.mute();
    const heardMs = callee.heardMs();
    callee.speak(2_000);
    call.respond();
    call.say('Anything.');
    await passes(PHONE_LIMITS.call.promptAfterMs + 5_000);
    expect(callee.heardMs() - heardMs).toBeLessThanOrEqual(20);
    expect(engines.guide.asked).toEqual([]);
    expect(over).toEqual([]);
    call.actions.leave('Please call me back.', 'voicemail_reached');
    await passes(1_000);
    expect(callee.heardMs() - heardMs).toBeGreaterThanOrEqual(400);
    expect(over).toEqual(['voicemail_reached']);
  });

  it('a call that hangs up on a machine is silent at once', async () => {
    const { call, callee, over, passes } = await phoneCall({ beginMessage: `${COUNT} ${COUNT}` });
    await passes(400);
    call.actions.drop('voicemail_reached');
    const heardMs = callee.heardMs();
    await passes(500);
    expect(callee.heardMs() - heardMs).toBeLessThanOrEqual(20);
    expect(over).toEqual(['voicemail_reached']);
  });
});

describe('gathered keys', () => {
  it('gathered keys reach the responder once they are complete by the rules of the responder', async () => {
    const entered: string[] = [];
    const world = await phoneCall(events({ entered: (digits) => entered.push(digits) }));
    world.call.actions.gather({ ...GATHER, maxDigits: 4 }, () => {});
    press(world, '12');
    await world.passes(3_000);
    expect(world.engines.guide.asked).toEqual([]);
    press(world, '34');
    await world.passes(200);
    expect(world.prompt()).toEqual(['[keypad] 1234']);
    expect(entered).toEqual(['1234']);
  });

  it("gathered keys that are sensitive are counted in the history, and only the developer's own responder gets them", async () => {
    const entered: string[] = [];
    const world = await phoneCall(events({ entered: (digits) => entered.push(digits) }));
    world.call.actions.gather({ ...GATHER, isSensitive: true }, () => {});
    press(world, '4111222233334444');
    await world.passes(200);
    expect(world.prompt()).toEqual(['[keypad] 16 digits entered']);
    expect(entered).toEqual(['4111222233334444']);
    await world.passes(PHONE_LIMITS.keypad.restMs);
    press(world, '9#');
    await world.passes(200);
    expect(world.prompt().join(' ')).toContain('[keypad] 9#');
    expect(entered).toHaveLength(1);
  });

  it('keys that follow a complete entry do not interrupt its answer, and reach nobody', async () => {
    const entered: string[] = [];
    const over: string[] = [];
    const world = await phoneCall(events({ entered: (digits) => entered.push(digits) }));
    const { answers, callee, engines, passes, prompt } = world;
    answers(COUNT);
    world.call.actions.gather({ ...GATHER, isSensitive: true }, () => over.push('over'));
    press(world, '4111222233334444');
    await passes(300);
    press(world, '789');
    await passes(2_000);
    press(world, '#');
    expect(over).toEqual([]);
    await passes(PHONE_LIMITS.keypad.restMs + 100);
    expect(entered).toEqual(['4111222233334444']);
    expect(engines.guide.asked).toHaveLength(1);
    expect(prompt()).toEqual(['[keypad] 16 digits entered']);
    expect(callee.heardMs()).toBeGreaterThanOrEqual(780);
    expect(over).toEqual(['over']);
  });

  it('gathered keys that never come are reported as no digits entered', async () => {
    const { call, passes, prompt } = await phoneCall();
    call.actions.gather(GATHER, () => {});
    await passes(10_200);
    expect(prompt()).toEqual(['[keypad] no digits entered']);
  });
});

it('a key gathering ends once when it completes, is replaced, or its call ends', async () => {
  const { call, passes } = await phoneCall();
  const over: string[] = [];
  const gather = (name: string) => call.actions.gather(GATHER, () => over.push(name));
  gather('replaced');
  gather('entered');
  for (const digit of '12#') call.media({ kind: 'digit', digit });
  await passes(100);
  expect(over).toEqual(['replaced', 'entered']);
  gather('ended');
  call.hungUp();
  await call.settled;
  expect(over).toEqual(['replaced', 'entered', 'ended']);
});

describe('a transfer', () => {
  it('a failed transfer brings the call back, and the caller and the responder learn that nobody was reached', async () => {
    const detached: string[] = [];
    const world = await phoneCall(events({ detached: () => detached.push('detached') }));
    const { answers, call, line, over, passes, prompt, says } = world;
    call.actions.transferring();
    call.detached();
    await passes(PHONE_LIMITS.call.lineLostMs + 20_000);
    expect(over).toEqual([]);
    expect(detached).toEqual([]);
    call.attach({
      send: (data) => {
        line.receive(data);
        return true;
      },
      batch: (work) => work(),
      close() {},
    });
    call.actions.transferFailed('[transfer] busy.');
    await passes(800);
    answers('All right.');
    await says('and now');
    expect(prompt()).toEqual(['[transfer] busy.', NOT_REACHED, 'and now']);
    call.detached();
    expect(detached).toEqual(['detached']);
  });

  it('an answered transfer ends the call, whether the carrier reports the answer or not', async () => {
    for (const isReported of [true, false]) {
      const over: string[] = [];
      const { call, passes } = await phoneCall(events({ over: ({ reason }) => over.push(reason) }));
      call.actions.transferring();
      call.detached();
      await passes(1_000);
      if (isReported) call.actions.transferred();
      else await passes(PHONE_LIMITS.transfer.timeoutMs);
      await call.settled;
      expect(over).toEqual(['call_transfer']);
    }
  });

  it('a report of a transfer that was not in progress changes nothing', async () => {
    const { call, over, passes } = await phoneCall();
    call.actions.transferred();
    call.actions.transferFailed('[transfer] busy.');
    await passes(500);
    expect(over).toEqual([]);
  });
});

it('a media stream that reconnects is written to with its own codec, not with the codec of the first stream', async () => {
  const { call, passes } = await phoneCall();
  const sent: string[] = [];
  const stream = (name: string) => ({
    connection: {
      send: (data: string) => sent.push(data) > 0,
      batch: (work: () => void) => work(),
      close() {},
    },
    codec: {
      read: () => ({ kind: 'ignored' }) as const,
      media: () => `${name} media`,
      mark: () => `${name} mark`,
      clear: () => `${name} clear`,
    },
  });
  const [first, second] = [stream('first'), stream('second')];
  call.attach(first.connection, first.codec);
  call.detached();
  call.attach(second.connection, second.codec);
  call.say('Hello there.');
  await passes(400);
  expect(sent.length).toBeGreaterThan(1);
  expect(sent.filter((message) => !message.startsWith('second'))).toEqual([]);
});

describe('a sound', () => {
  const soundOf = (ms: number) => async () => ({
    sampleRateHz: 16_000,
    blocks: [tone(ms, 16_000)],
  });

  it('a played sound is heard in its full length, and an answer waits until it is over', async () => {
    const { answers, call, callee, passes, says } = await phoneCall();
    call.actions.sounds.play(soundOf(3_000));
    answers('Fine.');
    await passes(500);
    expect(callee.heardMs()).toBeGreaterThan(400);
    call.say('One two.');
    await passes(3_500);
    expect(callee.heardMs()).toBeGreaterThanOrEqual(3_180);
    expect(callee.heardMs()).toBeLessThanOrEqual(3_240);
    await says('hello');
    await passes(500);
    expect(callee.heardMs()).toBeGreaterThanOrEqual(3_280);
  });

  it('a played sound is stopped by a caller who speaks, as speech is', async () => {
    const { call, callee, engines, passes, prompt } = await phoneCall();
    engines.stt.pocketsphinx.interim = () => 'stop that';
    call.actions.sounds.play(soundOf(20_000));
    await passes(1_000);
    engines.stt.pocketsphinx.script.push('stop that');
    callee.speak(600);
    await passes(1_500);
    const heardMs = callee.heardMs();
    await passes(3_000);
    expect(call.actions.sounds.isActive).toBe(false);
    expect(prompt()).toEqual(['stop that']);
    expect(callee.heardMs() - heardMs).toBeLessThan(1_500);
    expect(callee.heardMs(0, 3_000)).toBeLessThan(2_500);
  });

  it('a sound that cannot be opened is skipped, and the conversation goes on', async () => {
    const { answers, call, callee, passes, says } = await phoneCall();
    call.actions.sounds.play(async () => {
      throw new Error('gone');
    });
    answers('Fine thanks.');
    await says('how are you');
    await passes(500);
    expect(callee.heardMs()).toBe(200);
  });

  it('a sound that precedes the end of a call is heard whole before the call ends', async () => {
    const { call, callee, engines, over, passes, says } = await phoneCall();
    engines.guide.answers.push({
      text: '',
      toolCall: { name: 'end_call', argumentsJson: '{}' },
      usage: { inputTokens: 1, outputTokens: 3 },
    });
    call.actions.sounds.play(soundOf(4_000));
    await says('bye', 100);
    call.respond();
    await passes(1_500);
    expect(over).toEqual([]);
    await passes(3_500);
    expect(callee.heardMs()).toBeGreaterThanOrEqual(3_980);
    expect(over).toEqual(['agent_ended']);
  });
});

it('call settings that the models cannot serve change nothing, and the error says why', async () => {
  const { call } = await phoneCall();
  const problem = await call.actions.configure({ transcriptionLanguage: 'es' });
  expect(problem?.message).toContain('English');
  expect(call.config.transcriptionLanguage).toBeNull();
  const change = { transcriptionLanguage: 'en', voice: 'slt' };
  expect(await call.actions.configure(change)).toBeUndefined();
  expect(call.config).toMatchObject({ transcriptionLanguage: 'en', voice: 'slt' });
});
