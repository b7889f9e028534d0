import type { Clock } from '../kernel/clock.ts';
import type { Random } from '../kernel/random.ts';
import { createOpenAiRealtimeRail } from '../rails/realtime/openai-realtime.ts';
import type { RealtimeRail } from '../rails/realtime/realtime-rail.ts';
import type { Catalogue } from './catalogue.ts';
import { openRails, type Rails } from './open-rails.ts';

export type RealtimeRails = Rails<RealtimeRail>;

/** The rails of all providers whose sessions can be relayed. What is live inside this server has none. */
export function createRealtimeRails(deps: {
  readonly catalogue: Pick<Catalogue, 'provider'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly connectMs?: number;
}): RealtimeRails {
  return openRails<RealtimeRail>({
    catalogue: deps.catalogue,
    open: (dialect, upstream) =>
      dialect === 'openai-realtime' ? createOpenAiRealtimeRail({ ...deps, upstream }) : undefined,
  });
}
