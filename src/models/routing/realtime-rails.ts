import type { Catalogue } from '../catalogue/catalogue.ts';
import { createDeepgramListenRail } from '../providers/deepgram/deepgram-listen.ts';
import { createOpenAiLiveRail } from '../providers/realtime/openai-live.ts';
import { createOpenAiRealtimeRail } from '../providers/realtime/openai-realtime.ts';
import type { ListenRail, RealtimeRail } from '../providers/realtime/realtime-rail.ts';
import type { SocketOpenerDeps } from '../providers/realtime/socket-opener.ts';
import { openRails, type Rails } from './open-rails.ts';

type LiveRailDeps = SocketOpenerDeps & { readonly catalogue: Pick<Catalogue, 'provider'> };

/** The rails of all providers whose sessions can be relayed. What is live inside this server has none. */
export function createRealtimeRails(deps: LiveRailDeps): Rails<RealtimeRail> {
  return openRails<RealtimeRail>({
    catalogue: deps.catalogue,
    open: (dialect, upstream) =>
      dialect === 'openai-realtime' ? createOpenAiRealtimeRail({ ...deps, upstream }) : undefined,
  });
}

/** The rails of all providers of live sessions. */
export function createLiveRails(deps: LiveRailDeps): Rails<RealtimeRail> {
  return openRails<RealtimeRail>({
    catalogue: deps.catalogue,
    open: (dialect, upstream) =>
      dialect === 'openai-live' ? createOpenAiLiveRail({ ...deps, upstream }) : undefined,
  });
}

/** The rails of all providers that transcribe live. */
export function createListenRails(deps: LiveRailDeps): Rails<ListenRail> {
  return openRails<ListenRail>({
    catalogue: deps.catalogue,
    open: (dialect, upstream) =>
      dialect === 'deepgram' ? createDeepgramListenRail({ ...deps, upstream }) : undefined,
  });
}
