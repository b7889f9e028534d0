import { expect, it } from 'vitest';
import { MACHINE_LIMITS } from '../../../../machines/limits.ts';
import { PHONE_LIMITS } from '../../../../src/phone/limits.ts';
import { phoneCall } from '../../../support/phone-line.ts';
import { tone } from '../../../support/voice-fakes.ts';
import { AGENT, settleAll } from '../../../support/voice-world.ts';

const BILLED_EVERY_MS = 5_000;

/** A call on a clock that goes in longer steps, and what its ledger was told, with the time. */
async function longCall(options: Parameters<typeof phoneCall>[0] = {}) {
  const world = await phoneCall(options);
  const { clock, engines, ledger } = world;
  const journaled: { readonly atMs: number; readonly characters: number }[] = [];
  const { journal } = ledger;
  ledger.journal = async (claim, entries) => {
    const characters = entries.reduce((sum, { usage }) => sum + (usage.character ?? 0), 0);
    journaled.push({ atMs: clock.monotonicMs(), characters });
    return journal(claim, entries);
  };
  const runs = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 200) {
      clock.advance(200);
      await settleAll();
    }
  };
  /** Plays sound of so many milliseconds, of which 100 ms are made at a time. */
  const plays = (ms: number) =>
    world.call.actions.sounds.play(async () => ({
      sampleRateHz: 8_000,
      blocks: (function* () {
        for (let made = 0; made < ms; made += 100) yield tone(100, 8_000);
      })(),
    }));
  return { ...world, journaled, plays, runs, spoken: engines.tts.flite.spoken };
}

it('an answer that waits for a long sound is spoken after it, and the call goes on', async () => {
  const { call, over, plays, runs, spoken } = await longCall();
  const soundMs = MACHINE_LIMITS.realtime.turnMs + 4_000;
  plays(soundMs);
  call.say('Thank you for waiting.');
  await runs(soundMs + 2_000);
  expect(spoken).toEqual(['Thank you for waiting.']);
  expect(over).toEqual([]);
});

it('the time limit of an answer covers the longest queue of sounds and the longest text after it', () => {
  const {
    fetchMs: soundFetchMs,
    seconds: soundSeconds,
    waiting: soundsWaiting,
  } = PHONE_LIMITS.sound;
  const { turnMs } = PHONE_LIMITS.call;
  const { timeoutMs: webhookMs, spokenChars: webhookSpokenChars } = PHONE_LIMITS.webhook;
  const soundsMs = soundsWaiting * (soundFetchMs + soundSeconds * 1_000);
  const slowCharMs = 150;
  expect(turnMs).toBeGreaterThan(soundsMs + webhookMs + webhookSpokenChars * slowCharMs);
});

it('a caller who listens to a sound is prompted only after the sound was heard', async () => {
  const { call, plays, runs, spoken } = await longCall({ beginMessage: 'Hello there.' });
  const { turnDetection } = call.config;
  if (turnDetection?.type !== 'server_vad') throw new Error('the line detects turns');
  const { promptAfterMs } = PHONE_LIMITS.call;
  await call.actions.configure({
    turnDetection: { ...turnDetection, idleTimeoutMs: promptAfterMs },
  });
  await runs(1_000);
  plays(40_000);
  await runs(40_000 + promptAfterMs - 1_000);
  expect(spoken).toEqual(['Hello there.']);
  await runs(2_000);
  expect(spoken).toEqual(['Hello there.', 'Are you there?']);
});

it('an answer in progress journals its usage every 5 seconds, each character once', async () => {
  const { answers, call, journaled, ledger, passes, says } = await longCall();
  const text = Array.from({ length: 20 }, () => 'One two three four five six.').join(' ');
  answers(text);
  await says('go on');
  const beganMs = journaled.length;
  await passes(9_000);
  const during = journaled.slice(beganMs);
  expect(during.length).toBeGreaterThanOrEqual(1);
  expect(during.every(({ characters }) => characters > 0 && characters < text.length)).toBe(true);
  await passes(6_000);
  call.hungUp();
  await call.settled;
  const times = journaled.map(({ atMs }) => atMs);
  const gaps = times.slice(1).map((at, n) => at - (times[n] ?? 0));
  expect(Math.max(...gaps)).toBeLessThanOrEqual(BILLED_EVERY_MS + 40);
  const sum = journaled.reduce((total, { characters }) => total + characters, 0);
  expect(sum).toBe(text.replaceAll('. ', '.').length);
  expect(ledger.charges[0]?.costRaw).toBe(ledger.consumedRaw(AGENT));
});
