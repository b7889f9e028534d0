import { describe, expect, it } from 'vitest';
import { EngineMissing } from '../../../../src/engines/engine.ts';
import { ENGINE_LIMITS } from '../../../../src/engines/limits.ts';
import { createVad } from '../../../../src/engines/vad/vad.ts';
import type { VadContract } from '../../../../src/engines/vad/vad-worker.ts';
import { type Call, fakeWorkerClient } from '../../../support/fake-worker-client.ts';
import { ManualClock } from '../../../support/manual-clock.ts';

type Judge = VadContract['judge']['in'];
const judge = ({ argument }: Call) => argument as Judge;
const window = (level: number) => new Int16Array(512).fill(level);
/** Says of each window how loud it is. */
const loudness = (call: Call) => judge(call).streams.map((_, i) => judge(call).pcm[i * 512]);
const turn = () => new Promise(setImmediate);

function world(answer: (call: Call) => unknown = loudness) {
  const clock = new ManualClock();
  const client = fakeWorkerClient<VadContract>(answer);
  return { clock, client, vad: createVad({ client, clock, requirePresent: () => {} }) };
}

describe('vad engine', () => {
  it('the VAD engine answers each listener for its own window, many windows in one message', async () => {
    const { client, vad } = world();
    const [a, b, c] = await Promise.all([vad.open(), vad.open(), vad.open()]);
    const answers = [a.probability(window(1)), b.probability(window(2)), c.probability(window(3))];
    expect(await Promise.all(answers)).toEqual([1, 2, 3]);
    expect(client.calls.map((call) => judge(call).streams.length)).toEqual([0, 1, 2]);
  });

  it('the VAD engine leaves the decision to the gate when its worker is late', async () => {
    let reply: (call: unknown) => void = () => {};
    const { clock, vad } = world((call) =>
      judge(call).streams.length === 0 ? [] : new Promise((resolve) => (reply = resolve)),
    );
    const listener = await vad.open();
    const late = [listener.probability(window(1)), listener.probability(window(2))];
    clock.advance(ENGINE_LIMITS.vad.lateMs);
    expect(await Promise.all(late)).toEqual([Number.NaN, Number.NaN]);
    expect(await listener.probability(window(3))).toBeNaN();
    reply([0.5]);
    await turn();
    const next = listener.probability(window(4));
    reply([0.25]);
    expect(await next).toBe(0.25);
  });

  it('the VAD engine queues no more windows than one message can carry', async () => {
    const { vad } = world((call) =>
      judge(call).streams.length === 0 ? [] : new Promise(() => {}),
    );
    const listener = await vad.open();
    void listener.probability(window(0));
    const { batchFrames: vadBatchFrames } = ENGINE_LIMITS.vad;
    const asked = Array.from({ length: vadBatchFrames + 1 }, () => listener.probability(window(1)));
    expect(await asked.at(-1)).toBeNaN();
  });

  it('the VAD engine leaves the decision to the gate when its worker fails, and tells the worker of closed listeners', async () => {
    let broken = true;
    const { client, vad } = world((call) => {
      if (judge(call).streams.length > 0 && broken) throw new Error('trap');
      return loudness(call);
    });
    const listener = await vad.open();
    expect(await listener.probability(window(1))).toBeNaN();
    broken = false;
    expect(await listener.probability(window(2))).toBe(2);
    listener.close();
    listener.close();
    expect(judge(client.calls.at(-1) as Call).closed.length).toBe(1);
    expect(await listener.probability(window(3))).toBeNaN();
  });

  it('the VAD engine refuses to open where the weights are missing', async () => {
    const vad = createVad({
      client: fakeWorkerClient<VadContract>(() => []),
      clock: new ManualClock(),
      requirePresent() {
        throw new EngineMissing('pruned');
      },
    });
    await expect(vad.open()).rejects.toThrow(new EngineMissing('pruned'));
  });
});
