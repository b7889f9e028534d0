import type { Clock } from '../../kernel/clock.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import { ACCOUNT_LIMITS } from '../limits.ts';
import type { KnownAgentKey } from './agent-key-store.ts';
import type { Notice } from './invalidation.ts';

type Entry = { readonly known: KnownAgentKey; readonly untilMs: number };

/**
 * Caches the agents of keys, by the key's digest. An entry expires after `ACCOUNT_LIMITS.key.cacheMs`, so that the effect of a
 * missed notice is bounded; a full cache drops the least recently used entry.
 */
export function createAgentKeyCache(deps: {
  readonly clock: Clock;
  readonly load: (digest: string) => Promise<KnownAgentKey | undefined>;
}) {
  const entries = new RecentMap<string, Entry>(ACCOUNT_LIMITS.key.cached);
  /** Number of notices received. A load during which it changes is not cached, because its result may be outdated. */
  let generation = 0;

  function remembered(digest: string): KnownAgentKey | undefined {
    const entry = entries.get(digest);
    if (entry === undefined) return undefined;
    if (entry.untilMs > deps.clock.monotonicMs()) return entry.known;
    entries.delete(digest);
    return undefined;
  }

  async function load(digest: string): Promise<KnownAgentKey | undefined> {
    const before = generation;
    const known = await deps.load(digest);
    if (known !== undefined && before === generation) {
      entries.set(digest, {
        known,
        untilMs: deps.clock.monotonicMs() + ACCOUNT_LIMITS.key.cacheMs,
      });
    }
    return known;
  }

  return {
    /** Returns the agent of a cached key. Undefined when the key is not in the cache. */
    remembered,

    /** Returns the agent of a key: from the cache at once, or as a promise when it must be loaded. */
    find: (digest: string): KnownAgentKey | Promise<KnownAgentKey | undefined> =>
      remembered(digest) ?? load(digest),

    forget(notice: Notice): void {
      generation++;
      if (notice.kind === 'everything') entries.clear();
      for (const [digest, { known }] of entries) {
        if (isAbout(notice, known)) entries.delete(digest);
      }
    },

    size: (): number => entries.size,
  };
}

function isAbout(notice: Notice, known: KnownAgentKey): boolean {
  switch (notice.kind) {
    case 'agent_key_revoked':
      return known.keyId === notice.keyId;
    case 'agent_stopped':
    case 'agent_changed':
      return known.agentId === notice.agentId;
    case 'developer_key_revoked':
      return false;
    case 'everything':
      return true;
  }
}
