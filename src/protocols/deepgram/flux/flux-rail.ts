import { HEARING_HZ } from '../../../../media/hearing.ts';
import type { Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../../models/limits.ts';
import {
  createSocketOpener,
  type SocketOpenerDeps,
  socketUrl,
} from '../../../models/providers/realtime/socket-opener.ts';
import type { TurnCall, TurnEvent, TurnRail } from '../../../models/providers/turns/turn-rail.ts';
import { openTurns, type TurnProtocol } from '../../../models/providers/turns/upstream-turns.ts';
import type { Upstream } from '../../../models/providers/upstream-pool.ts';
import { DEEPGRAM_LIMITS } from '../limits.ts';

const { timeoutMs: eotTimeoutMs } = DEEPGRAM_LIMITS.turn;

/** Confidence of the upstream in an end of turn from which an answer is begun ahead; it ends a turn at 0.7. */
const EAGER = 0.5;

const KINDS: Readonly<Record<string, TurnEvent['kind']>> = {
  StartOfTurn: 'words',
  Update: 'words',
  EagerEndOfTurn: 'likely_over',
  TurnResumed: 'resumed',
  EndOfTurn: 'over',
};

/** https://developers.deepgram.com/docs/flux/state */
const FLUX: TurnProtocol = {
  endTurn: '{"type":"ForceEndTurn"}',
  endSession: '{"type":"CloseStream"}',
  read(message) {
    if (message.type === 'Error') return 'refused by the upstream';
    if (message.type !== 'TurnInfo') return undefined;
    const kind = KINDS[String(message.event)];
    return kind && { kind, text: textOf(message) };
  },
};

const textOf = ({ transcript }: Json): string => (typeof transcript === 'string' ? transcript : '');

function queryOf({ isEager, language, model, mostSilenceMs }: TurnCall): Map<string, string> {
  const { max, min } = eotTimeoutMs;
  const query = new Map([
    ['model', model],
    ['encoding', 'linear16'],
    ['sample_rate', String(HEARING_HZ)],
    ['eot_timeout_ms', String(Math.max(min, Math.min(max, mostSilenceMs)))],
  ]);
  if (isEager) query.set('eager_eot_threshold', String(EAGER));
  // The model for one language knows no hint.
  if (language !== undefined && model.endsWith('-multi')) query.set('language_hint', language);
  return query;
}

/** Deepgram's socket that detects the ends of turns. The upstream bills the audio that is sent to it. */
export function createFluxRail(
  deps: SocketOpenerDeps & { readonly upstream: Pick<Upstream, 'baseUrl' | 'apiKey'> },
): TurnRail & AsyncDisposable {
  const { upstream } = deps;
  const opener = createSocketOpener(deps);
  return {
    bills: 'sound',
    async connect(call, signal) {
      const key = call.ownKey ?? upstream.apiKey;
      const url = socketUrl(upstream.baseUrl, 'listen');
      url.pathname = url.pathname.replace(/\/v1\/listen$/, '/v2/listen');
      for (const [name, value] of queryOf(call)) url.searchParams.set(name, value);
      const { agentId } = call;
      const authorization = key === null ? null : `Token ${key}`;
      const maxFrameBytes = MODEL_LIMITS.link.listenFrameBytes;
      const opened = await opener.open(
        { url, agentId, authorization, maxFrameBytes, greets: true },
        signal,
      );
      if (opened.kind !== 'completed') return opened;
      return { kind: 'completed', status: opened.status, turns: openTurns(opened.socket, FLUX) };
    },
    [Symbol.asyncDispose]: () => opener[Symbol.asyncDispose](),
  };
}
