import type { Teardown } from '../../src/kernel/teardown.ts';
import type { StoredKeys } from '../../src/models/routing/keyed-sources.ts';
import { bearer, KEYS, startEdge } from './edge.ts';
import { RealtimeClient } from './realtime-client.ts';

/** An edge with live sockets before what a world has built so far: it can be connected to, and all of it taken down. */
export async function liveFront(teardown: Teardown, options: Parameters<typeof startEdge>[0]) {
  const edge = teardown.use('edge', await startEdge(options));
  return {
    edge,
    at: (path: string) => `ws://127.0.0.1:${edge.port}${path}`,
    async connect(url: string, headers: Readonly<Record<string, string>> = {}) {
      const client = new RealtimeClient(url, [], { ...bearer(KEYS.agent), ...headers });
      await client.opened();
      return client;
    },
    [Symbol.asyncDispose]: () => teardown[Symbol.asyncDispose](),
  };
}

/** The keys that every developer has stored, and which providers were called with one. */
export function storedKeysOf(keys: Readonly<Record<string, string>>) {
  const usedKeys: string[] = [];
  const providerKeys: StoredKeys = {
    find: async (_, provider) => keys[provider],
    noteUse: async (_, provider) => void usedKeys.push(provider),
  };
  return { providerKeys, usedKeys };
}
