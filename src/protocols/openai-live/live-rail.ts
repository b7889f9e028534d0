import type { RealtimeRail } from '../../models/providers/realtime/realtime-rail.ts';
import {
  createSocketOpener,
  type SocketOpenerDeps,
  socketUrl,
} from '../../models/providers/realtime/socket-opener.ts';
import type { Upstream } from '../../models/providers/upstream-pool.ts';
import { VOICE_LIMITS } from '../../voice/limits.ts';

/**
 * Creates the rail for sessions at an upstream of the protocol of `/v1/live/sessions`. The upstream sends nothing before
 * `session.start`, which names the model.
 */
export function createOpenAiLiveRail(
  deps: SocketOpenerDeps & { readonly upstream: Pick<Upstream, 'baseUrl' | 'apiKey'> },
): RealtimeRail & AsyncDisposable {
  const { upstream } = deps;
  const opener = createSocketOpener(deps);
  return {
    connect({ agentId, ownKey }, signal) {
      const key = ownKey ?? upstream.apiKey;
      const url = socketUrl(upstream.baseUrl, 'live/sessions');
      const authorization = key === null ? null : `Bearer ${key}`;
      const maxFrameBytes = VOICE_LIMITS.relay.frameBytes;
      return opener.open({ url, agentId, authorization, maxFrameBytes, greets: false }, signal);
    },
    [Symbol.asyncDispose]: () => opener[Symbol.asyncDispose](),
  };
}
