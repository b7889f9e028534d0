import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  deliveryOf,
  droppedByInterruption,
  type Frame,
  type FrameKind,
  FrameQueue,
} from '../../../media/frames.ts';

const said = (text: string): Frame => ({ kind: 'reply_text', text });
const heard = (text: string): Frame => ({ kind: 'transcript', text, isFinal: true });
const mark = (name: string): Frame => ({ kind: 'mark', name });

describe('frames', () => {
  it('an interruption drops the frames of our reply, and never frames that tell what the caller did', () => {
    const theirs: FrameKind[] = ['audio_received', 'digit_received', 'transcript', 'mark_played'];
    const ours: FrameKind[] = ['reply_text', 'reply_audio', 'reply_started', 'reply_ended', 'mark'];
    expect(theirs.map(droppedByInterruption)).toEqual(theirs.map(() => false));
    expect(ours.map(droppedByInterruption)).toEqual(ours.map(() => true));
    expect(deliveryOf('interrupted')).toBe('system');
    expect(deliveryOf('reply_audio')).toBe('data');
    expect(deliveryOf('mark')).toBe('control');
  });
});

describe('a frame queue', () => {
  it('a frame queue lets system frames overtake and keeps the order within each lane', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { maxLength: 40 }), (system) => {
        const queue = new FrameQueue(100);
        const frames = system.map((is, i) => (is ? heard(`${i}`) : said(`${i}`)));
        for (const frame of frames) expect(queue.push(frame)).toBe(true);
        const out = Array.from({ length: frames.length }, () => queue.pull());
        expect(out).toEqual([
          ...frames.filter((frame) => frame.kind === 'transcript'),
          ...frames.filter((frame) => frame.kind === 'reply_text'),
        ]);
        expect(queue.pull()).toBeUndefined();
      }),
    );
  });

  it('an interruption removes the reply and nothing else from a frame queue', () => {
    const queue = new FrameQueue(10);
    for (const frame of [said('a'), mark('m'), heard('yes'), said('b')]) queue.push(frame);
    expect(queue.interrupt()).toBe(3);
    expect(queue.length).toBe(1);
    expect(queue.pull()).toEqual(heard('yes'));
  });

  it('a frame queue refuses frames beyond its capacity, but takes a hang-up even when full', () => {
    const queue = new FrameQueue(2);
    expect([said('a'), said('b'), said('c')].map((frame) => queue.push(frame))).toEqual([
      true,
      true,
      false,
    ]);
    expect(queue.refusedFrames).toBe(1);
    expect(queue.push({ kind: 'stream_stopped', reason: 'hang-up' })).toBe(true);
    expect(queue.pull()?.kind).toBe('stream_stopped');
  });
});
