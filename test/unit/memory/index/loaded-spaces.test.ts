import { describe, expect, it } from 'vitest';
import { EngineBusy } from '../../../../src/engines/engine.ts';
import type { IndexContract } from '../../../../src/memory/index/index-worker.ts';
import { LoadedSpaces, SpaceNotLoaded } from '../../../../src/memory/index/loaded-spaces.ts';
import { MEMORY_LIMITS } from '../../../../src/memory/limits.ts';
import { fakeWorkerClient } from '../../../support/fake-worker-client.ts';

/** A thread that answers with what the test says. */
function spacesOf(answer: { value?: unknown; bytes?: number; evicted?: readonly number[] } = {}) {
  const client = fakeWorkerClient<IndexContract>(() => ({ bytes: 0, evicted: [], ...answer }));
  const thread = { current: {} as object | undefined };
  Object.defineProperty(client, 'thread', { get: () => thread.current });
  return { client, spaces: new LoadedSpaces(client), thread };
}

describe('the spaces that are loaded', () => {
  it('the loaded spaces are forgotten when the index thread that held them is lost', () => {
    const { spaces, thread } = spacesOf();
    const space = spaces.begin(7, 3);
    spaces.finish(space, 1);
    expect(spaces.find(7)?.version).toBe(1);
    thread.current = undefined;
    expect(spaces.find(7)).toBeUndefined();
    expect(() => spaces.requireKept(space)).toThrow(SpaceNotLoaded);
  });

  it('a loaded space is forgotten when any reply of the index reports its eviction', async () => {
    const { client, spaces } = spacesOf({ bytes: 12, evicted: [1] });
    const first = spaces.begin(7, 3);
    spaces.finish(first, 1);
    const second = spaces.begin(8, 3);
    await spaces.ask(second, 'open', { key: second.key, dims: 3, owner: 1 });
    expect(spaces.find(7)).toBeUndefined();
    expect(spaces.bytes).toBe(12);
    expect(client.calls).toHaveLength(1);
  });

  it('a space’s search is refused when too many calls wait at the index, while its wipe still drops the space', async () => {
    const { client, spaces } = spacesOf();
    const space = spaces.begin(7, 3);
    spaces.finish(space, 1);
    Object.assign(client, { inFlight: MEMORY_LIMITS.index.waiting });
    const asked = spaces.ask(space, 'search', {
      key: 1,
      query: { vector: new Float32Array(3), k: 1 },
    });
    await expect(asked).rejects.toBeInstanceOf(EngineBusy);
    expect(client.calls).toEqual([]);
    await spaces.wipe(space);
    expect(client.calls.map(({ method }) => method)).toEqual(['drop']);
  });
});
