import { describe, expect, it } from 'vitest';
import { EngineBusy, EngineMissing } from '../../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';
import { createSoundEncoding } from '../../../../src/engines/tts/sound-encoding.ts';
import { fakeWorkerClient } from '../../../support/fake-worker-client.ts';

const MOST = ENGINE_LIMITS.encoding.streams;

function world(answer: (method: string) => unknown = () => new Uint8Array(1)) {
  const client = fakeWorkerClient<never>(({ method }) => answer(method));
  const running = Object.assign(client, { thread: {} });
  const encoding = createSoundEncoding({
    client: running as never,
    missing: (format) => (format === 'aac' ? 'The aac encoder is not available.' : undefined),
  });
  return { calls: client.calls, encoding };
}

describe('encoding in a worker', () => {
  it('the encoding worker gets the id of each file from its opening to its end, and closes each file once', async () => {
    const { calls, encoding } = world();
    const [first, second] = [await encoding.open('mp3'), await encoding.open('opus')];
    await second.push(Int16Array.of(1));
    await first.finish();
    first.close();
    first.close();
    expect(calls).toEqual([
      { method: 'open', argument: { stream: 1, format: 'mp3' } },
      { method: 'open', argument: { stream: 2, format: 'opus' } },
      { method: 'push', argument: { stream: 2, pcm: Int16Array.of(1) } },
      { method: 'finish', argument: { stream: 1 } },
      { method: 'close', argument: { stream: 1 } },
    ]);
  });

  it('the encoding engine opens installed formats only, and names the missing package of others', async () => {
    const { calls, encoding } = world();
    expect([encoding.makes('mp3'), encoding.makes('aac')]).toEqual([true, false]);
    await expect(encoding.open('aac')).rejects.toThrow(EngineMissing);
    expect(calls).toEqual([]);
  });

  it('the encoding engine limits its open files, and has room again when a file is closed or did not open', async () => {
    let fails = false;
    const { encoding } = world((method) => {
      if (fails && method === 'open') throw new Error('no memory');
      return null;
    });
    const open = await Promise.all(Array.from({ length: MOST }, () => encoding.open('mp3')));
    await expect(encoding.open('mp3')).rejects.toThrow(EngineBusy);
    open[0]?.close();
    await new Promise((resolve) => setImmediate(resolve));
    fails = true;
    await expect(encoding.open('mp3')).rejects.toThrow('no memory');
    await new Promise((resolve) => setImmediate(resolve));
    fails = false;
    await encoding.open('mp3');
    await expect(encoding.open('mp3')).rejects.toThrow(EngineBusy);
  });
});
