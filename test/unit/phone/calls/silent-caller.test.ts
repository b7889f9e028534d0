import { expect, it } from 'vitest';
import { PHONE_LIMITS } from '../../../../src/phone/limits.ts';
import { SilentCaller } from '../../../../src/phone/voice/silent-caller.ts';
import { phoneCall } from '../../../support/phone-line.ts';

const { promptAfterMs, prompts } = PHONE_LIMITS.call;
const PROMPT = 'Are you there?';
const SOON_MS = 1_000;

/** A call that asks a silent caller whether they are there, as phone calls do. */
async function watched(options: Parameters<typeof phoneCall>[0] = {}) {
  const phone = await phoneCall(options);
  const { turnDetection } = phone.call.config;
  if (turnDetection?.type !== 'server_vad') throw new Error('the line detects turns');
  await phone.call.actions.configure({
    turnDetection: { ...turnDetection, idleTimeoutMs: promptAfterMs },
  });
  return { ...phone, spoken: phone.engines.tts.flite.spoken };
}

it('a caller who never speaks to an agent without a greeting is prompted again and again', async () => {
  const { passes, spoken } = await watched();
  await passes(promptAfterMs - SOON_MS);
  expect(spoken).toEqual([]);
  await passes(2 * SOON_MS);
  for (let n = 1; n <= prompts + 1; n++) {
    expect(spoken).toEqual(Array(n).fill(PROMPT));
    await passes(promptAfterMs + SOON_MS / 2);
  }
});

it.each([
  ['a sign of listening', 'mhm', 420],
  ['a noise', '', 420],
])('a caller who is silent after %s in reply to an answer is prompted', async (_, words, ms) => {
  const { answers, callee, engines, passes, says, spoken } = await watched();
  answers('One two three four five six seven eight nine ten.');
  await says('count');
  engines.stt.pocketsphinx.script.push(words);
  callee.speak(ms);
  await passes(promptAfterMs - SOON_MS);
  expect(spoken).toHaveLength(1);
  await passes(3 * SOON_MS);
  expect(spoken.slice(1)).toEqual([PROMPT]);
});

it('a caller who makes a noise into the silence is prompted after 12 seconds of silence', async () => {
  const { answers, callee, engines, passes, says, spoken } = await watched();
  answers('Yes.');
  await says('hello');
  await passes(promptAfterMs - 2 * SOON_MS);
  engines.stt.pocketsphinx.script.push('');
  callee.speak(420);
  await passes(promptAfterMs);
  expect(spoken).toEqual(['Yes.']);
  await passes(2 * SOON_MS);
  expect(spoken).toEqual(['Yes.', PROMPT]);
});

it('a caller whose utterance is dropped by a change of settings is prompted', async () => {
  const { answers, call, callee, passes, says, spoken } = await watched();
  answers('Yes.');
  await says('hello');
  await passes(SOON_MS);
  callee.speak(400);
  await passes(500);
  await call.actions.configure({ transcriptionPrompt: 'names' });
  await passes(promptAfterMs + SOON_MS);
  expect(spoken).toEqual(['Yes.', PROMPT]);
});

const GATHER = { maxDigits: 16, finishOnKey: '#', timeoutMs: 40_000, isSensitive: false };

/** A call that gives a silent caller up, as phone calls do. */
async function givingUp() {
  let isGathering = () => false;
  const ended: string[] = [];
  const silent = new SilentCaller({
    isGathering: () => isGathering(),
    giveUp: () => ended.push('inactivity'),
  });
  const phone = await watched({
    prompt: () => silent.prompt(),
    events: { digit: () => silent.isThere() },
  });
  isGathering = () => phone.call.actions.isGathering;
  const press = (keys: string) => {
    for (const digit of keys) phone.call.media({ kind: 'digit', digit });
  };
  return { ...phone, ended, press };
}

it('a caller who is to enter keys is not prompted, and the responder gets no request', async () => {
  const { answers, call, engines, passes, press, prompt, spoken } = await givingUp();
  answers('Right.');
  call.actions.gather(GATHER, () => {});
  press('12');
  await passes(3 * promptAfterMs);
  press('34#');
  await passes(SOON_MS / 2);
  expect(engines.guide.asked).toHaveLength(1);
  expect(prompt().at(-1)).toBe('[keypad] 1234');
  expect(spoken).toEqual(['Right.']);
});

it('a caller who answers every prompt by a key is kept, and a caller who answers none is hung up for inactivity', async () => {
  const { answers, ended, passes, press, spoken } = await givingUp();
  for (let n = 0; n <= prompts; n++) {
    await passes(promptAfterMs + SOON_MS);
    answers('Well.');
    press('1#');
    await passes(SOON_MS / 2);
  }
  expect(spoken.filter((text) => text === 'Are you still there?')).toHaveLength(prompts + 1);
  expect(ended).toEqual([]);
  await passes((prompts + 1) * (promptAfterMs + SOON_MS));
  expect(ended).toEqual(['inactivity']);
});

it('a caller is not prompted while they press keys, and is prompted after 12 seconds without one', async () => {
  const { answers, passes, press, spoken } = await givingUp();
  await passes(promptAfterMs - SOON_MS / 2);
  answers('Fine.');
  press('1');
  await passes(SOON_MS);
  press('2');
  await passes(PHONE_LIMITS.keypad.pauseMs + SOON_MS);
  expect(spoken).toEqual(['Fine.']);
  await passes(promptAfterMs + SOON_MS);
  expect(spoken).toEqual(['Fine.', 'Are you still there?']);
});
