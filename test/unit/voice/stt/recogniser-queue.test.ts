import { describe, expect, it } from 'vitest';
import type { SttStream } from '../../../../src/engines/engine.ts';
import { RecogniserQueue } from '../../../../src/voice/stt/recogniser-queue.ts';
import { settleAll } from '../../../support/voice-world.ts';

function start(change: Partial<SttStream> = {}) {
  const heard: number[][] = [];
  const reports: string[] = [];
  let opened: (stream: SttStream) => void = () => {};
  const queue = new RecogniserQueue({
    open: () =>
      new Promise<SttStream>((resolve) => {
        opened = resolve;
      }),
    transcript() {},
    lost: (error) => void reports.push(`lost: ${error.message}`),
    failed: (error) => void reports.push(`failed: ${error.message}`),
  });
  const stream: SttStream = {
    push: (pcm) => void heard.push([...pcm]),
    async endUtterance() {},
    close: () => void reports.push('closed'),
    ...change,
  };
  const waiting: Int16Array[] = [];
  const hear = (frame: Int16Array) => queue.hear(frame, waiting);
  return { heard, hear, reports, queue, waiting, open: () => opened(stream) };
}

describe('RecogniserQueue', () => {
  it('RecogniserQueue copies the audio while the recogniser opens, so that the caller may reuse the array', async () => {
    const { hear, heard, open } = start();
    const frame = new Int16Array(2);
    for (const sample of [1, 2, 3]) hear(frame.fill(sample));
    expect(heard).toEqual([]);
    open();
    await settleAll();
    expect(heard).toEqual([
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
  });

  it('RecogniserQueue pushes audio to an open recogniser at once, but queues it behind an utterance end in progress', async () => {
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const { hear, heard, open, queue } = start({ endUtterance: () => ended });
    const frame = new Int16Array(1);
    hear(frame.fill(1));
    open();
    await settleAll();
    hear(frame.fill(2));
    expect(heard).toEqual([[1], [2]]);

    queue.next((stream) => stream.endUtterance());
    hear(frame.fill(3));
    await settleAll();
    expect(heard).toEqual([[1], [2]]);
    end();
    await settleAll();
    expect(heard).toEqual([[1], [2], [3]]);
    hear(frame.fill(4));
    expect(heard.at(-1)).toEqual([4]);
  });

  it('RecogniserQueue reports a recogniser that fails at audio once, releases it and opens another', async () => {
    let isBroken = false;
    const pushed: number[] = [];
    const { hear, open, reports } = start({
      push(pcm) {
        if (isBroken) throw new Error('trapped');
        pushed.push(pcm[0] as number);
      },
    });
    hear(Int16Array.of(1));
    open();
    await settleAll();
    isBroken = true;
    hear(Int16Array.of(2));
    isBroken = false;
    hear(Int16Array.of(3));
    open();
    await settleAll();
    expect(reports).toEqual(['lost: trapped', 'closed']);
    expect(pushed).toEqual([1, 3]);
  });

  it('RecogniserQueue does not push audio that its owner removes before its turn', async () => {
    const { hear, heard, open, waiting } = start();
    for (const sample of [1, 2]) hear(Int16Array.of(sample));
    waiting.length = 0;
    hear(Int16Array.of(3));
    open();
    await settleAll();
    expect([heard, waiting]).toEqual([[[3]], []]);
  });
});
