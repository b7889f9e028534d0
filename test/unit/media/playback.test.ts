import { describe, expect, it } from 'vitest';
import { Playback } from '../../../media/playback.ts';

describe('Playback', () => {
  it('Playback underruns only when the next piece comes after the last one has been played', () => {
    const playback = new Playback();
    expect(playback.sent(0, 200)).toBe(false);
    expect(playback.sent(10, 100)).toBe(false);
    expect(playback.sent(300, 100)).toBe(false);
    // 400 ms were played by then.
    expect(playback.sent(450, 100)).toBe(true);
    expect([playback.underruns, playback.dryMs]).toEqual([1, 50]);
    expect(playback.sent(550, 100)).toBe(false);
  });

  it('Playback counts no underrun between answers, nor after an answer that was broken off', () => {
    const playback = new Playback();
    playback.sent(0, 100);
    playback.restart();
    expect(playback.sent(5_000, 100)).toBe(false);
    expect([playback.underruns, playback.dryMs]).toEqual([0, 0]);
  });
});
