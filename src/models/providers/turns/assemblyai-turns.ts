import { HEARING_HZ } from '../../../../media/hearing.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { MODEL_LIMITS } from '../../limits.ts';
import { createSocketOpener, type SocketOpenerDeps, socketUrl } from '../realtime/socket-opener.ts';
import type { Upstream } from '../upstream-pool.ts';
import type { TurnCall, TurnEvent, TurnRail } from './turn-rail.ts';
import { openTurns, type TurnProtocol } from './upstream-turns.ts';

/** The vendor's own default: from here on its model is sure that the speaker has finished. */
const SURE = 0.4;

/**
 * Creates the protocol of https://www.assemblyai.com/docs/streaming/message-sequence, for one session. A formatted turn comes a
 * second time with the same words, and is ignored.
 */
function createProtocol(isEager: boolean): TurnProtocol {
  /** The last turn that is over. */
  let over = -1;
  /** Words after which the end of a turn was reported as likely. */
  let likely = '';
  return {
    endTurn: '{"type":"ForceEndpoint"}',
    endSession: '{"type":"Terminate"}',
    read(message) {
      if (message.type === 'Error') return 'refused by the upstream';
      if (message.type !== 'Turn' || typeof message.turn_order !== 'number') return undefined;
      const order = message.turn_order;
      if (order <= over) return undefined;
      const text = textOf(message);
      if (message.end_of_turn === true) {
        over = order;
        likely = '';
        return { kind: 'over', text };
      }
      return { kind: isEager ? kindOf(message.end_of_turn_confidence, text) : 'words', text };
    },
  };

  function kindOf(confidence: unknown, text: string): TurnEvent['kind'] {
    const before = likely;
    const isLikely = typeof confidence === 'number' && confidence >= SURE;
    // Words that have changed are no likely end before they are said once more.
    likely = isLikely && (before === '' || before === text) ? text : '';
    if (likely === before) return 'words';
    return before === '' ? 'likely_over' : 'resumed';
  }
}

function queryOf({ leastSilenceMs, model, mostSilenceMs }: TurnCall): [string, string][] {
  return [
    ['speech_model', model],
    ['encoding', 'pcm_s16le'],
    ['sample_rate', String(HEARING_HZ)],
    ['end_of_turn_confidence_threshold', String(SURE)],
    ['min_end_of_turn_silence_when_confident', String(leastSilenceMs)],
    ['max_turn_silence', String(mostSilenceMs)],
  ];
}

/** Returns all words of a turn, also words that may still change. `transcript` has only the final words. */
function textOf({ transcript, words }: Json): string {
  if (!Array.isArray(words) || words.length === 0) {
    return typeof transcript === 'string' ? transcript : '';
  }
  const said = words.map((word) => (isObject(word) ? word.text : undefined));
  return said.filter((text) => typeof text === 'string').join(' ');
}

/** AssemblyAI's live transcription. The upstream bills the time for which a session is open. */
export function createAssemblyAiRail(
  deps: SocketOpenerDeps & { readonly upstream: Pick<Upstream, 'baseUrl' | 'apiKey'> },
): TurnRail & AsyncDisposable {
  const { upstream } = deps;
  const opener = createSocketOpener(deps);
  return {
    bills: 'session',
    async connect(call, signal) {
      const { agentId, isEager, ownKey } = call;
      const url = socketUrl(upstream.baseUrl, 'ws');
      for (const [name, value] of queryOf(call)) url.searchParams.set(name, value);
      // The key alone: the vendor takes no scheme before it.
      const authorization = ownKey ?? upstream.apiKey;
      const maxFrameBytes = MODEL_LIMITS.link.listenFrameBytes;
      const opened = await opener.open(
        { url, agentId, authorization, maxFrameBytes, greets: true },
        signal,
      );
      if (opened.kind !== 'completed') return opened;
      const turns = openTurns(opened.socket, createProtocol(isEager));
      return { kind: 'completed', status: opened.status, turns };
    },
    [Symbol.asyncDispose]: () => opener[Symbol.asyncDispose](),
  };
}
