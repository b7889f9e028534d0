import { MODEL_LIMITS } from '../../../models/limits.ts';
import type { ListenRail } from '../../../models/providers/realtime/realtime-rail.ts';
import {
  createSocketOpener,
  type SocketOpenerDeps,
  socketUrl,
} from '../../../models/providers/realtime/socket-opener.ts';
import type { Upstream } from '../../../models/providers/upstream-pool.ts';

/** Creates the rail for live transcription at an upstream of Deepgram's protocol, which authenticates with `Token`. */
export function createDeepgramListenRail(
  deps: SocketOpenerDeps & { readonly upstream: Pick<Upstream, 'baseUrl' | 'apiKey'> },
): ListenRail & AsyncDisposable {
  const { upstream } = deps;
  const opener = createSocketOpener(deps);
  return {
    connect({ agentId, isOfTurns = false, model, options, ownKey }, signal) {
      const key = ownKey ?? upstream.apiKey;
      const url = socketUrl(upstream.baseUrl, 'listen');
      if (isOfTurns) url.pathname = url.pathname.replace(/\/v1\/listen$/, '/v2/listen');
      for (const [name, value] of options) url.searchParams.append(name, value);
      url.searchParams.set('model', model);
      const authorization = key === null ? null : `Token ${key}`;
      const maxFrameBytes = MODEL_LIMITS.link.listenFrameBytes;
      return opener.open({ url, agentId, authorization, maxFrameBytes, greets: false }, signal);
    },
    [Symbol.asyncDispose]: () => opener[Symbol.asyncDispose](),
  };
}
