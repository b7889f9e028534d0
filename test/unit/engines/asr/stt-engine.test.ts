import { describe, expect, it } from 'vitest';
import { createDecoderPool } from '../../../../src/engines/asr/decoder-pool.ts';
import { createListeningPlaces } from '../../../../src/engines/asr/listening-places.ts';
import type { SttContract } from '../../../../src/engines/asr/stt-contract.ts';
import { createSttEngine } from '../../../../src/engines/asr/stt-engine.ts';
import { type Call, fakeWorkerClient } from '../../../support/fake-worker-client.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

function world() {
  const client = fakeWorkerClient<SttContract>(() => null);
  const pool = createDecoderPool({ size: 2, makeClient: () => client });
  const places = createListeningPlaces({ cores: 1, most: 4 });
  const engine = createSttEngine({
    clock: new ManualClock(),
    places,
    pool,
    requirePresent: () => {},
  });
  const open = () =>
    engine.open({
      sampleRateHz: 16_000,
      listener: { transcript: () => {}, failed: () => {} },
    });
  const methods = () => client.calls.map(({ method }: Call) => method);
  return { engine, methods, open, pool };
}

const settled = () => new Promise(setImmediate);

describe('the recogniser of this process', () => {
  it('the recogniser of a process loads one decoder when its first stream opens, before any sound', async () => {
    const { methods, open, pool } = world();
    expect(methods()).toEqual([]);
    await open();
    await open();
    await settled();
    expect([methods(), pool.taken]).toEqual([['start'], 0]);
  });

  it('the recogniser of a process loads its decoder when the first session takes a place, while a phone still rings', async () => {
    const { engine, methods } = world();
    engine.takePlace();
    await settled();
    expect(methods()).toEqual(['start']);
  });

  it('the recogniser of a process loads a decoder for each place that is taken, up to the decoders that it may have', async () => {
    const { engine, methods, pool } = world();
    for (let place = 0; place < 3; place++) engine.takePlace();
    await settled();
    expect([methods(), pool.taken]).toEqual([['start', 'start'], 0]);
  });
});
