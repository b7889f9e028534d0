import { headOf } from '../../../kernel/storable.ts';
import type { Reserve } from '../../../ledger/rules/requests.ts';
import { CallTools } from '../../tools/call-tools.ts';
import { findToolCalls } from '../../tools/tool-store.ts';
import { NOTES } from '../../voice/notes.ts';
import type { Call } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import type { LiveCall } from '../live-call.ts';

/** Upper bound of the tool calls of another process that the model gets a note of. */
const MOST_RECALLED = 20;
const NOTE_CHARS = 1_000;

/** Creates what carries out the tool calls of a live call, until the call is settled. */
export function openTools(
  { clock, feed, log, runTool, sql }: Pick<CallDeps, 'clock' | 'feed' | 'log' | 'runTool' | 'sql'>,
  call: Call,
  live: LiveCall,
  reserve: Reserve,
): CallTools {
  const { callId, options } = call;
  const tools = new CallTools({
    clock,
    log,
    sql,
    callId,
    tools: options.voice.tools ?? [],
    tell: (done) => feed.tell(callId, { type: 'tool', ...done }),
    run: (toolCall) => runTool(call, toolCall, reserve),
    call: live,
  });
  const close = () => tools.close();
  live.settled.then(close, close);
  return tools;
}

/**
 * Adds to the history the tool calls that another process made, and their results. A call with an unknown outcome is noted as
 * possibly carried out, so that the model does not repeat it.
 */
export async function recallTools(
  { log, sql }: Pick<CallDeps, 'log' | 'sql'>,
  { callId, options }: Call,
  live: Pick<LiveCall, 'note'>,
): Promise<void> {
  if ((options.voice.tools ?? []).length === 0) return;
  const made = await findToolCalls(sql, callId, MOST_RECALLED).catch((err: unknown) => {
    log.warn({ err, callId }, 'the tool calls of a call were not read');
    return [];
  });
  for (const { arguments: given, name, outcome, result } of made) {
    const brought =
      outcome === null
        ? 'It may have been carried out: do not call it again.'
        : `It brought: ${result}`;
    const note = `${NOTES.tool} ${name} was called with ${given}. ${brought}`;
    live.note(headOf(note, NOTE_CHARS));
  }
}
