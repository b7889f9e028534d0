import { describe, expect, it } from 'vitest';
import type { SoundFormat } from '../../../../media/coding.ts';
import { LinePlayback } from '../../../../media/line/line-playback.ts';

const MS = (ms: number) => new Uint8Array(ms * 8);
const playback = (format: SoundFormat = { encoding: 'mulaw', sampleRateHz: 8_000 }) =>
  new LinePlayback({ format, markMs: 200 });

describe('the playback of a line', () => {
  it('the playback of a line counts sent audio as heard by the clock while no mark is due', () => {
    const line = playback();
    line.sent('a', MS(100), 0);
    expect(line.heard(40)).toEqual({ itemId: 'a', heardMs: 40 });
    expect(line.unheardMs(40)).toBe(60);
    expect(line.heard(500)).toEqual({ itemId: 'a', heardMs: 100 });
  });

  it('the playback of a line stops at a mark without an echo, and goes on from the time of the echo', () => {
    const line = playback();
    const mark = line.sent('a', MS(200), 0);
    line.sent('a', MS(200), 0);
    expect(line.heard(350)).toEqual({ itemId: 'a', heardMs: 200 });
    expect(line.echoed(mark ?? '', 350)).toBe(true);
    expect(line.heard(400)).toEqual({ itemId: 'a', heardMs: 250 });
  });

  it('the playback of a line goes by the clock where the carrier echoes no marks', () => {
    const line = playback();
    line.sent('a', MS(200), 0);
    line.sent('a', MS(2_000), 0);
    expect(line.heard(1_500)).toEqual({ itemId: 'a', heardMs: 1_500 });
  });

  it('the playback of a line does not count audio as heard whose mark is echoed because of a clear', () => {
    const line = playback();
    line.sent('a', MS(100), 0);
    const mark = line.sent('a', MS(300), 0) ?? '';
    const unheard = line.clear(150);
    expect(unheard.map(({ bytes }) => bytes.length / 8)).toEqual([250]);
    expect(line.echoed(mark, 151)).toBe(false);
    expect(line.heard(400)).toBeUndefined();
  });

  it('the playback of a line cuts unheard audio between samples of two bytes', () => {
    const line = playback({ encoding: 'linear16', sampleRateHz: 16_000 });
    line.sent(
      'a',
      Uint8Array.from({ length: 3_200 }, (_, at) => at % 2),
      0,
    );
    // The clock stands in the middle of a sample, at byte 320.3.
    const [unheard] = line.clear(10.01);
    expect(unheard?.bytes.length).toBe(3_200 - 322);
    expect(unheard?.bytes[0]).toBe(0);
  });

  it('the playback of a line goes on within an item whose unheard audio is sent again', () => {
    const line = playback();
    line.sent('a', MS(300), 0);
    const [rest] = line.clear(100);
    line.sent('a', rest?.bytes ?? MS(0), 500);
    expect(line.heard(550)).toEqual({ itemId: 'a', heardMs: 150 });
  });

  it('the playback of a line counts each item separately', () => {
    const line = playback();
    line.sent('a', MS(100), 0);
    line.sent('b', MS(80), 0);
    expect(line.heard(130)).toEqual({ itemId: 'b', heardMs: 30 });
  });

  it('the playback of a line starts afresh after silence', () => {
    const line = playback();
    line.sent('a', MS(100), 0);
    line.sent('b', MS(100), 5_000);
    expect(line.heard(5_020)).toEqual({ itemId: 'b', heardMs: 20 });
  });
});

describe('a line whose carrier echoes no marks', () => {
  it('the playback of a line without echoed marks keeps only the audio that a clear may still remove', () => {
    const line = playback();
    const bytes = new Uint8Array(1_600);
    const before = process.memoryUsage().arrayBuffers;
    for (let ms = 0; ms < 3_600_000; ms += 200) line.sent('item', bytes.fill(ms % 251), ms);
    // All of it would be 28.8 MB.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000);
    const [unheard] = line.clear(3_599_900);
    expect(unheard?.bytes.length).toBe(800);
    expect(new Set(unheard?.bytes)).toEqual(new Set([3_599_800 % 251]));
  });
});
