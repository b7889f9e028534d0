import type { Clock } from '../kernel/clock.ts';
import { LIMITS } from '../kernel/limits.ts';
import type { Place } from './provider-key.ts';

type Entry<T> = { readonly found: Promise<T>; readonly untilMs: number };

/**
 * Remembers what stands in a place, absence included, for `LIMITS.providerKeyCacheMs`: other processes
 * tell nobody what they change. Questions that come together are asked once; beyond the bound the oldest
 * answer leaves.
 */
export function createRememberedKeys<T>(deps: {
  readonly clock: Clock;
  readonly load: (place: Place) => Promise<T>;
}) {
  /** In the order in which they lapse: no entry is ever prolonged. */
  const entries = new Map<string, Entry<T>>();

  function dropLapsed(): void {
    const now = deps.clock.monotonicMs();
    for (const [name, { untilMs }] of entries) {
      if (untilMs > now) return;
      entries.delete(name);
    }
  }

  function remember(name: string, found: Promise<T>): void {
    entries.set(name, { found, untilMs: deps.clock.monotonicMs() + LIMITS.providerKeyCacheMs });
    const oldest = entries.keys().next().value;
    if (entries.size > LIMITS.providerKeysCached && oldest !== undefined) entries.delete(oldest);
    // Whoever asks next asks again; those who wait hear of the failure themselves.
    found.catch(() => {
      if (entries.get(name)?.found === found) entries.delete(name);
    });
  }

  return {
    find(place: Place): Promise<T> {
      dropLapsed();
      const name = nameOf(place);
      const known = entries.get(name);
      if (known !== undefined) return known.found;
      const found = deps.load(place);
      remember(name, found);
      return found;
    },

    /** What is being read meanwhile is not remembered either. */
    forget: (place: Place): boolean => entries.delete(nameOf(place)),

    size: (): number => entries.size,
  };
}

const nameOf = ({ accountId, provider }: Place): string => `${accountId} ${provider}`;
