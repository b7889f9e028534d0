import type { Catalogue } from '../models/catalogue/catalogue.ts';
import type { ListenRail, RealtimeRail } from '../models/providers/realtime/realtime-rail.ts';
import type { SocketOpenerDeps } from '../models/providers/realtime/socket-opener.ts';
import { createAssemblyAiRail } from '../models/providers/turns/assemblyai-turns.ts';
import type { TurnRail } from '../models/providers/turns/turn-rail.ts';
import { openRails, type Rails } from '../models/routing/open-rails.ts';
import { createFluxRail } from './deepgram/flux/flux-rail.ts';
import { createDeepgramListenRail } from './deepgram/listen/listen-rail.ts';
import { createOpenAiLiveRail } from './openai-live/live-rail.ts';
import { createOpenAiRealtimeRail } from './openai-realtime/openai-rail.ts';

type LiveRailDeps = SocketOpenerDeps & { readonly catalogue: Pick<Catalogue, 'provider'> };

/** Creates the rails of all providers whose realtime sessions can be relayed. Local realtime models have no rail. */
export function createRealtimeRails(deps: LiveRailDeps): Rails<RealtimeRail> {
  return openRails<RealtimeRail>({
    catalogue: deps.catalogue,
    open: (dialect, upstream) =>
      dialect === 'openai-realtime' ? createOpenAiRealtimeRail({ ...deps, upstream }) : undefined,
  });
}

/** Creates the rails of all providers of OpenAI's live protocol. */
export function createLiveRails(deps: LiveRailDeps): Rails<RealtimeRail> {
  return openRails<RealtimeRail>({
    catalogue: deps.catalogue,
    open: (dialect, upstream) =>
      dialect === 'openai-live' ? createOpenAiLiveRail({ ...deps, upstream }) : undefined,
  });
}

/** Creates the rails of all providers that transcribe live. */
export function createListenRails(deps: LiveRailDeps): Rails<ListenRail> {
  return openRails<ListenRail>({
    catalogue: deps.catalogue,
    open: (dialect, upstream) =>
      dialect === 'deepgram' ? createDeepgramListenRail({ ...deps, upstream }) : undefined,
  });
}

/** Models of Deepgram that find the ends of turns. They have a socket of their own, and nothing else. */
const FLUX = /^flux-/;

/** Creates the rails of all transcribers that detect the ends of turns. */
export function createTurnRails(deps: LiveRailDeps): Rails<TurnRail> {
  const { catalogue } = deps;
  const rails = openRails<TurnRail>({
    catalogue,
    open(dialect, upstream) {
      if (dialect === 'deepgram') return createFluxRail({ ...deps, upstream });
      return dialect === 'assemblyai' ? createAssemblyAiRail({ ...deps, upstream }) : undefined;
    },
  });
  return {
    railOf(source) {
      const isOther =
        catalogue.provider(source.provider)?.dialect === 'deepgram' &&
        !FLUX.test(source.upstreamModel);
      return isOther ? undefined : rails.railOf(source);
    },
    [Symbol.asyncDispose]: () => rails[Symbol.asyncDispose](),
  };
}
