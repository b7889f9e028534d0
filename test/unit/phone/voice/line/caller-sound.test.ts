import { expect, it } from 'vitest';
import { encodeMulaw } from '../../../../../media/mulaw.ts';
import { silentLog } from '../../../../../src/kernel/log.ts';
import { CallerSound } from '../../../../../src/phone/voice/line/caller-sound.ts';
import { ManualClock } from '../../../../support/manual-clock.ts';

const FORMAT = { encoding: 'mulaw', sampleRateHz: 8_000 } as const;
const FRAME = 160;

/** 20 ms of a tone, or of silence. */
function frameOf(hz: number): Uint8Array {
  const bytes = new Uint8Array(FRAME);
  encodeMulaw(
    Int16Array.from({ length: FRAME }, (_, i) => 2_000 * Math.sin((2 * Math.PI * hz * i) / 8_000)),
    bytes,
  );
  return bytes;
}

/** A line whose caller is measured as a test says. */
function openLine() {
  const measured = { isMeasuring: false, loudMs: 0, consonantMs: 0, vowelMs: 0 };
  let sent = 0;
  const sound = new CallerSound({
    clock: new ManualClock(),
    log: silentLog,
    format: FORMAT,
    bargeIn: {
      get isMeasuring() {
        return measured.isMeasuring;
      },
      loud(ms) {
        measured.loudMs += ms;
      },
      consonant(ms) {
        measured.consonantMs += ms;
      },
      vowel(ms) {
        measured.vowelMs += ms;
      },
    },
    session: { append: () => undefined },
  });
  const hears = (hz: number, frames: number) => {
    for (let i = 0; i < frames; i++) sound.push(20 * sent++, frameOf(hz));
  };
  return { measured, hears };
}

it('speech that is detected late is measured from its begin, and its loudness from its detection', () => {
  const { measured, hears } = openLine();
  hears(0, 40);
  hears(3_000, 4);
  hears(300, 2);
  expect(measured).toMatchObject({ loudMs: 0, consonantMs: 0, vowelMs: 0 });
  measured.isMeasuring = true;
  hears(300, 3);
  expect(measured).toMatchObject({ loudMs: 60, consonantMs: 80, vowelMs: 100 });
});

it("a caller's speech is measured from at most 300 ms before its detection, and each frame once", () => {
  const { measured, hears } = openLine();
  hears(3_000, 100);
  measured.isMeasuring = true;
  hears(0, 2);
  expect(measured.consonantMs).toBe(300);
  hears(3_000, 1);
  expect(measured.consonantMs).toBe(320);
  measured.isMeasuring = false;
  hears(0, 20);
  measured.isMeasuring = true;
  hears(0, 1);
  expect(measured.consonantMs).toBe(320);
});
