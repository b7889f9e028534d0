import type { Clock } from '../../kernel/clock.ts';
import { LIMITS } from '../../kernel/limits.ts';
import { RecentMap } from '../../kernel/recent-map.ts';
import type { KnownAgentKey } from './agent-key-store.ts';
import type { Notice } from './invalidation.ts';

type Entry = { readonly known: KnownAgentKey; readonly untilMs: number };

/**
 * Remembers who agent keys are, by digest. Bounded: the least recently used leaves first. An entry
 * also leaves by itself after `LIMITS.agentKeyCacheMs`, so that no missed notice lasts.
 */
export function createAgentKeyCache(deps: {
  readonly clock: Clock;
  readonly load: (digest: string) => Promise<KnownAgentKey | undefined>;
}) {
  const entries = new RecentMap<string, Entry>(LIMITS.agentKeysCached);
  /** Raised by every notice: what was read before it must not be remembered after it. */
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
      entries.set(digest, { known, untilMs: deps.clock.monotonicMs() + LIMITS.agentKeyCacheMs });
    }
    return known;
  }

  return {
    /** Answers for a key seen lately alone. */
    remembered,

    /** Answers at once for a key seen lately. */
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
