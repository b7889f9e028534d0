import { ApiError } from '../../../kernel/api-error.ts';
import { voiceOfCall } from '../../voice/call-overrides.ts';
import type { AgentVoice, CallOptions } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import type { InboundAnswer, InboundRequest } from './ask-inbound.ts';

/** Returns the options of an incoming call from the settings of its agent. */
export function storedOptions(stored: AgentVoice): CallOptions {
  const { inboundUrl: _, recordCalls, reportCalls, secretVersion: __, ...voice } = stored;
  return { voice, detectsMachine: false, isRecorded: recordCalls, wantsReport: reportCalls };
}

/**
 * Asks the developer's inbound URL about a ringing call, and returns the options of its answer. Undefined: the stored
 * settings hold, because there is no URL or its answer cannot be carried out.
 */
export async function askForOptions(
  deps: Pick<CallDeps, 'askInbound' | 'catalogue' | 'log' | 'refusalOf'>,
  stored: AgentVoice,
  ringing: InboundRequest & { readonly accountId: string },
): Promise<CallOptions | 'reject' | undefined> {
  const { inboundUrl: url, secretVersion = 1 } = stored;
  if (url === undefined || url === null) return undefined;
  const { accountId, agentId, callId, from, to } = ringing;
  const answer = await deps.askInbound({ callId, agentId, from, to }, { url, secretVersion });
  if (answer === undefined) return undefined;
  if (answer.action === 'reject') return 'reject';
  try {
    return await optionsOf(deps, stored, { answer, accountId });
  } catch (err) {
    if (!(err instanceof ApiError)) throw err;
    deps.log.warn({ err, callId }, 'an inbound URL wants what the call cannot have');
    return undefined;
  }
}

async function optionsOf(
  { catalogue, refusalOf }: Pick<CallDeps, 'catalogue' | 'refusalOf'>,
  stored: AgentVoice,
  {
    accountId,
    answer,
  }: {
    readonly accountId: string;
    readonly answer: Exclude<InboundAnswer, { action: 'reject' }>;
  },
): Promise<CallOptions | undefined> {
  const options = storedOptions(stored);
  if (answer.action === 'forward') {
    if ((await refusalOf(answer.to, accountId)) !== undefined) return undefined;
    return { ...options, voice: { ...options.voice, beginMessage: null }, forwardTo: answer.to };
  }
  const { overrides, recording, report } = answer;
  const { metadata, variables } = overrides;
  return {
    ...options,
    voice: voiceOfCall(catalogue, options.voice, overrides),
    isRecorded: recording ?? options.isRecorded,
    wantsReport: report ?? options.wantsReport,
    ...(variables !== undefined && { variables }),
    ...(metadata !== undefined && { metadata }),
  };
}
