import { afterEach, describe, expect, it, vi } from 'vitest';
import { loadUseLite, USE_LITE_DIMENSIONS } from '../../../../src/engines/text/use-lite.ts';
import { sleep, systemClock } from '../../../../src/kernel/clock.ts';

/** The part of WebAssembly that is used here; the types of Node leave it to the browser's. */
type Api = { instantiate(binary: Uint8Array, imports: object): Promise<object> };

afterEach(() => vi.restoreAllMocks());

describe('the sentence encoder', () => {
  it('the sentence encoder loads where its files are read before its backend has started', async () => {
    const { WebAssembly } = globalThis as unknown as { readonly WebAssembly: Api };
    const { instantiate } = WebAssembly;
    const { signal } = new AbortController();
    vi.spyOn(WebAssembly, 'instantiate').mockImplementation(async (...given) => {
      await sleep(systemClock, 2_000, signal);
      return instantiate(...given);
    });
    const encode = await loadUseLite();
    const [vector] = await encode(['Good morning.']);
    expect(vector).toHaveLength(USE_LITE_DIMENSIONS);
  });
});
