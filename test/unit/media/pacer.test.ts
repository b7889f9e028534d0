import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MULAW_SILENCE } from '../../../media/mulaw.ts';
import { Pacer } from '../../../media/pacer.ts';

const FRAME = 160;
const pacerOf = (options: { leadMs?: number; capacityMs?: number } = {}) =>
  new Pacer({
    frameBytes: FRAME,
    frameMs: 20,
    leadMs: options.leadMs ?? 100,
    capacityMs: options.capacityMs ?? 10_000,
    silence: MULAW_SILENCE,
  });
const sound = (ms: number, value = 1) => new Uint8Array(ms * 8).fill(value);

function framesAt(pacer: Pacer, nowMs: number): number {
  const target = new Uint8Array(FRAME);
  let frames = 0;
  while (pacer.pull(nowMs, target)) frames++;
  return frames;
}

describe('the pacer', () => {
  it('the pacer is never further ahead of the listener than its lead, and sends every byte in order', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(fc.nat({ max: 90 }), fc.nat({ max: 700 })), { maxLength: 40 }),
        fc.integer({ min: 20, max: 200 }),
        (steps, leadMs) => {
          const pacer = pacerOf({ leadMs });
          const target = new Uint8Array(FRAME);
          const given: number[] = [];
          const heard: number[] = [];
          let nowMs = 1_000;
          const pullAll = () => {
            while (pacer.pull(nowMs, target)) {
              heard.push(...target);
              expect(pacer.sentMs - pacer.playedMs(nowMs)).toBeLessThanOrEqual(leadMs);
            }
          };
          for (const [waitMs, bytes] of steps) {
            nowMs += waitMs;
            const chunk = Uint8Array.from({ length: bytes }, (_, i) => (given.length + i) % 251);
            given.push(...chunk);
            expect(pacer.push(chunk)).toBe(true);
            pullAll();
          }
          pacer.end();
          while (!pacer.finished(nowMs)) {
            nowMs += pacer.dueInMs(nowMs) ?? 20;
            pullAll();
          }
          expect(heard.slice(0, given.length)).toEqual(given);
          expect(heard.slice(given.length).every((byte) => byte === 0xff)).toBe(true);
          expect(heard.length % FRAME).toBe(0);
          expect(pacer.playedMs(nowMs)).toBe(pacer.sentMs);
        },
      ),
    );
  });

  it('the pacer sends its lead at once, then one frame every 20 ms', () => {
    const pacer = pacerOf();
    pacer.push(sound(1_000));
    expect(framesAt(pacer, 0)).toBe(5);
    expect(pacer.dueInMs(0)).toBe(20);
    expect(framesAt(pacer, 19)).toBe(0);
    expect(framesAt(pacer, 20)).toBe(1);
    expect(framesAt(pacer, 60)).toBe(2);
  });

  it('the pacer catches up to its lead and no further after a late timer', () => {
    const pacer = pacerOf();
    pacer.push(sound(2_000));
    framesAt(pacer, 0);
    expect(framesAt(pacer, 80)).toBe(4);
    expect(framesAt(pacer, 5_000)).toBe(5);
    expect(pacer.underruns).toBe(1);
  });

  it('the pacer forgets the reply on an interruption, and reports how much was played', () => {
    const pacer = pacerOf();
    pacer.push(sound(1_000));
    framesAt(pacer, 0);
    framesAt(pacer, 50);
    expect(pacer.interrupt(50)).toEqual({ playedMs: 50, sentMs: 140, droppedMs: 860 });
    expect(pacer.dueInMs(50)).toBeUndefined();
    expect(framesAt(pacer, 1_000)).toBe(0);
    expect(pacer.interrupt(60)).toEqual({ playedMs: 0, sentMs: 0, droppedMs: 0 });

    pacer.push(sound(100));
    expect(framesAt(pacer, 55)).toBe(5);
  });

  it('the pacer holds a partial frame back until the reply has ended, then pads it with silence', () => {
    const pacer = pacerOf();
    pacer.push(new Uint8Array(100).fill(7));
    expect(framesAt(pacer, 0)).toBe(0);
    expect(pacer.dueInMs(0)).toBeUndefined();
    pacer.end();
    const target = new Uint8Array(FRAME);
    expect(pacer.pull(0, target)).toBe(true);
    expect([...target]).toEqual([...Array(100).fill(7), ...Array(60).fill(0xff)]);
    expect(pacer.finished(10)).toBe(false);
    expect(pacer.finished(20)).toBe(true);
    expect(pacer.underruns).toBe(0);
  });

  it('the pacer counts a second reply from its own beginning, behind the first', () => {
    const pacer = pacerOf();
    pacer.push(sound(60));
    framesAt(pacer, 0);
    pacer.beginReply();
    pacer.push(sound(40));
    expect(framesAt(pacer, 0)).toBe(2);
    expect(pacer.playedMs(60)).toBe(0);
    expect(pacer.playedMs(80)).toBe(20);
  });

  it('the pacer refuses sound beyond its capacity or in too many tiny pieces, and takes sound again later', () => {
    const pacer = pacerOf({ capacityMs: 100 });
    expect(pacer.push(sound(100))).toBe(true);
    expect(pacer.push(sound(20))).toBe(false);
    expect(pacer.refusedChunks).toBe(1);
    framesAt(pacer, 0);
    expect(pacer.push(sound(20))).toBe(true);

    const crumbs = pacerOf();
    const taken = Array.from({ length: 300 }, () => crumbs.push(Uint8Array.of(1)));
    expect(taken.filter(Boolean)).toHaveLength(256);
    expect(crumbs.queuedMs).toBe(32);
    expect(() => pacerOf({ leadMs: 10 })).toThrow(RangeError);
  });
});
