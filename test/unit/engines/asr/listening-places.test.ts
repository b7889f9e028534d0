import { describe, expect, it } from 'vitest';
import { createListeningPlaces } from '../../../../src/engines/asr/listening-places.ts';
import { EngineBusy } from '../../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';

const { retrySeconds: decoderRetrySeconds, realTimeFactor } = ENGINE_LIMITS.decoder;

/** As many live listeners as are let in. */
function fill(places: ReturnType<typeof createListeningPlaces>): number {
  for (let count = 0; ; count++) {
    try {
      places.take('live');
    } catch (error) {
      expect(error).toBeInstanceOf(EngineBusy);
      expect((error as EngineBusy).retryAfterSeconds).toBe(decoderRetrySeconds);
      return count;
    }
  }
}

describe('listening places', () => {
  it('the listening places fit as many listeners as the cores can decode when half of their time is speech', () => {
    const places = createListeningPlaces({ cores: 1 });
    expect(fill(places)).toBe(5);
    expect([places.taken, places.refused, places.most]).toEqual([5, 1, 5]);
    expect(fill(createListeningPlaces({ cores: 3 }))).toBe(14);
  });

  it('the listening places of decoders that prove to be fast become more than those of decoders of unknown speed', () => {
    const places = createListeningPlaces({ cores: 1 });
    for (let s = 0; s < 10 * realTimeFactor.overSeconds; s++) places.decoded(120, 1_000);
    expect(fill(places)).toBe(10);
  });

  it('the listening places follow the decoders’ speed: slower decoders have fewer places, but at least one', () => {
    const places = createListeningPlaces({ cores: 1 });
    for (let s = 0; s < 10 * realTimeFactor.overSeconds; s++) places.decoded(240, 1_000);
    expect(places.most).toBe(5);
    for (let s = 0; s < 10 * realTimeFactor.overSeconds; s++) places.decoded(5_000, 1_000);
    expect(fill(places)).toBe(1);
  });

  it('the listening places never fall below their minimum, however slow the decoders are', () => {
    const places = createListeningPlaces({ cores: 1, least: 4 });
    for (let s = 0; s < 10 * realTimeFactor.overSeconds; s++) places.decoded(5_000, 1_000);
    expect(fill(places)).toBe(4);
  });

  it('a file, whose speech never pauses, takes the listening places of two listeners', () => {
    const places = createListeningPlaces({ cores: 1, most: 4 });
    const file = places.take('file');
    expect(fill(places)).toBe(2);
    file.release();
    file.release();
    expect(fill(places)).toBe(2);
    expect(places.taken).toBe(4);
  });

  it('a call in progress gets a listening place though none is free', () => {
    const places = createListeningPlaces({ cores: 1, most: 1 });
    const first = places.take('live');
    const second = places.takeOver();
    expect(places.taken).toBe(2);
    first.release();
    expect(() => places.take('live')).toThrow(EngineBusy);
    second.release();
    expect(fill(places)).toBe(1);
  });
});
