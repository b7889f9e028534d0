import { describe, expect, it } from 'vitest';
import { createLoopbackCodec } from '../../../../../src/phone/carriers/loopback/loopback-codec.ts';
import { PHONE_LIMITS } from '../../../../../src/phone/limits.ts';
import { CallLine } from '../../../../../src/phone/voice/line/call-line.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';
import { settleAll } from '../../../../support/voice-world.ts';

const PIECE_MS = 200;
const PIECE = new Uint8Array(PIECE_MS * 8);
const { aheadMs, refillMs } = PHONE_LIMITS.media;

/** A line to a carrier that plays what it gets in real time, and echoes marks. */
function openLine() {
  const clock = new ManualClock(0);
  const codec = { ...createLoopbackCodec(), media: () => 'sound', mark: (name: string) => name };
  let playedUntilMs = 0;
  const send = (message: string): boolean => {
    const nowMs = clock.monotonicMs();
    if (message === 'sound') playedUntilMs = Math.max(playedUntilMs, nowMs) + PIECE_MS;
    else clock.setTimeout(() => line.echoed(message), playedUntilMs - nowMs);
    return true;
  };
  const line = new CallLine({
    clock,
    codec,
    format: { encoding: 'mulaw', sampleRateHz: 8_000 },
  });
  line.attach({ send, batch: (work) => work(), close() {} }, codec);
  return { clock, line };
}

/** Sends 200 ms whenever there is room, until it is stopped, and notes when. */
function fill(line: CallLine, clock: ManualClock) {
  const sentAtMs: number[] = [];
  const stop = new AbortController();
  const running = (async () => {
    for (;;) {
      await line.room(stop.signal);
      if (stop.signal.aborted) return;
      line.play('item', PIECE);
      sentAtMs.push(clock.monotonicMs());
    }
  })();
  return { sentAtMs, stop, running };
}

async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 10) {
    clock.advance(10);
    await settleAll();
  }
}

describe('a telephone line', () => {
  it('a phone line has room until the callee has a second of audio that was not played', () => {
    const { line } = openLine();
    let pieces = 0;
    while (line.hasRoom) {
      line.play('item', PIECE);
      pieces++;
    }
    expect(pieces * PIECE_MS).toBeGreaterThan(aheadMs);
    expect(pieces * PIECE_MS).toBeLessThanOrEqual(aheadMs + PIECE_MS);
  });

  it('a full phone line is filled again when 400 ms were played, and never runs dry', async () => {
    const { clock, line } = openLine();
    const { running, sentAtMs, stop } = fill(line, clock);
    await settleAll();
    const first = sentAtMs.length;
    await pass(clock, 3_000);
    stop.abort();
    line.clearPlayback();
    await running;
    const times = [...new Set(sentAtMs.slice(first))];
    expect(times.length).toBeGreaterThan(3);
    expect(times.length).toBeLessThanOrEqual(3_000 / refillMs + 1);
    for (const [at, ms] of times.slice(1).entries()) {
      expect(ms - (times[at] ?? 0)).toBeGreaterThanOrEqual(refillMs);
    }
    expect(line.dry.underruns).toBe(0);
  });

  it('a phone line reports of each cut item how much of it was heard', async () => {
    const { clock, line } = openLine();
    line.play('first', PIECE);
    line.play('second', PIECE);
    line.play('third', PIECE);
    await pass(clock, 300);
    const second = { itemId: 'second', heardMs: 100 };
    expect(line.clearPlayback('fourth')).toEqual([
      second,
      { itemId: 'third', heardMs: 0 },
      { itemId: 'fourth', heardMs: 0 },
    ]);
    line.play('fifth', PIECE);
    await pass(clock, 300);
    expect(line.clearPlayback()).toEqual([]);
  });

  it('a phone line has no room while it is paused, or while its stream is gone', () => {
    const { line } = openLine();
    line.pause();
    expect(line.hasRoom).toBe(false);
    line.resume();
    expect(line.hasRoom).toBe(true);
    line.detach();
    expect(line.hasRoom).toBe(false);
  });
});
