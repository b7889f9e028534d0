import type { Spender } from '../../../ledger/rules/requests.ts';
import { phoneErrors } from '../../errors.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { problemOfSchema } from '../../records/analysis/analysis-schema.ts';
import { type CallOverrides, filled, voiceOfCall } from '../../voice/call-overrides.ts';
import { type BatchPlace, type CallOptions, hasOwnResponder, type OnMachine } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { unsoldModel } from './plan-voice.ts';

export type CallOrder = {
  readonly agentId: number;
  readonly accountId: string;
  readonly spender: Omit<Spender, 'agentId'>;
  readonly to: string;
  /** The most that the call may cost, as its caller names it. */
  readonly maxSpendRaw: bigint | undefined;
  readonly detectsMachine: boolean;
  /** Action when an answering machine answers. Undefined: no action, although the machine is reported. */
  readonly onMachine?: OnMachine | undefined;
  readonly machineMessage?: string | undefined;
  readonly wantsReport: boolean;
  /** Judge of the call after its end: rules, or its model. Naming a judge asks for a report as well. */
  readonly analysis?: 'rules' | CallOptions['analysis'] | undefined;
  readonly isRecorded: boolean;
  /** Settings that replace the agent's settings for this call. Undefined: none. */
  readonly overrides?: CallOverrides | undefined;
  /** The work under an `Idempotency-Key` that this is. */
  readonly workId?: string | undefined;
  /** Batch that the call belongs to. Undefined: the call is not part of a batch. */
  readonly batch?: BatchPlace | undefined;
};

/**
 * Returns the options of a call to place: the agent's settings, and the order's overrides. Throws when an override cannot be
 * met.
 */
export async function orderOptions(
  deps: Pick<CallDeps, 'cascades' | 'catalogue' | 'models' | 'voiceOf'>,
  order: CallOrder,
): Promise<CallOptions> {
  const { accountId, agentId, analysis, isRecorded, overrides, wantsReport } = order;
  const { metadata, variables } = overrides ?? {};
  const stored = await deps.voiceOf(agentId);
  const voice = overrides === undefined ? stored : voiceOfCall(deps.catalogue, stored, overrides);
  requireAnalysis(analysis, voice);
  const unsold = await unsoldModel(deps, accountId, voice);
  if (unsold !== undefined) throw phoneErrors.voiceModelUnavailable(unsold);
  return {
    voice,
    ...machineOptions(order, voice),
    ...(variables !== undefined && { variables }),
    ...(metadata !== undefined && { metadata }),
    isRecorded,
    wantsReport: wantsReport || analysis !== undefined,
    ...(analysis !== undefined && analysis !== 'rules' && { analysis }),
  };
}

/** Returns the options for answering machines. Throws for `leave_message` without a text, and for a text without it. */
function machineOptions(
  { detectsMachine, machineMessage, onMachine, overrides }: CallOrder,
  { beginMessage }: CallOptions['voice'],
): Pick<CallOptions, 'detectsMachine' | 'onMachine' | 'machineMessage'> {
  if (machineMessage !== undefined && onMachine !== 'leave_message') {
    throw phoneErrors.machineMessageUnused();
  }
  if (onMachine === undefined) return { detectsMachine };
  if (onMachine !== 'leave_message') return { detectsMachine: true, onMachine };
  const message = machineMessage ?? beginMessage;
  if (message === null || message.trim() === '') throw phoneErrors.machineMessageRequired();
  const said = filled('machineMessage', message, {
    variables: overrides?.variables,
    mostChars: PHONE_LIMITS.machine.messageChars,
  });
  return { detectsMachine: true, onMachine, ...(said !== null && { machineMessage: said }) };
}

/** Checks the requested analysis. Throws when its schema is invalid, or when the call has no model that could fill it. */
function requireAnalysis(analysis: CallOrder['analysis'], voice: CallOptions['voice']): void {
  if (typeof analysis !== 'object') return;
  const problem = problemOfSchema(analysis.schema);
  if (problem !== undefined) throw phoneErrors.invalidAnalysis(problem);
  if (hasOwnResponder(voice)) throw phoneErrors.analysisNeedsModel();
}
