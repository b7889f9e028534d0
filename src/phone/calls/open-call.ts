import type { SessionEndReason } from '../../../machines/call.ts';
import type { SoundFormat } from '../../../media/coding.ts';
import type { EnginePlace } from '../../engines/engine.ts';
import { enginesAt } from '../../engines/engines-for.ts';
import { insertEvents } from '../../ledger/store/agent-funds.ts';
import { holdTurn } from '../../voice/billing/hold-turn.ts';
import type { Extension } from '../../voice/billing/session-hold.ts';
import { openOwnKeys } from '../../voice/cascade/own-keys.ts';
import type { CascadePlan } from '../../voice/cascade/plan-cascade.ts';
import { fittingVoice, inLanguage } from '../../voice/cascade/voices.ts';
import { DEFAULT_CONFIG, type SessionConfig } from '../../voice/session/session-config.ts';
import type { VoicePipeline } from '../../voice/session/voice-pipeline.ts';
import type { VoiceSessionInput } from '../../voice/session/voice-session-input.ts';
import { findRecording } from '../recordings/recording-store.ts';
import { offeredTools } from '../tools/offered-tool.ts';
import { CALL_TOOLS, STOP_RECORDING_TOOL } from '../voice/call-actions.ts';
import { turnDetectionOf } from '../voice/tuning/turn-settings.ts';
import { findWallet } from './account-store.ts';
import type { Call } from './call.ts';
import type { CallDeps, Responder } from './call-deps.ts';
import { callStarted } from './call-events.ts';
import {
  type CallMoney,
  type CallSettlement,
  createCallMoney,
  phoneSource,
  spenderOf,
} from './call-money.ts';
import { createCallPipeline } from './call-pipeline.ts';
import { applyToCall, findCall } from './call-store.ts';
import { reasonOf } from './end-reason.ts';
import { findSessionEnd, giveEndReason } from './ending/end-store.ts';
import { holdReserve } from './opening/hold-reserve.ts';
import { planVoice, turnCapOf } from './opening/plan-voice.ts';

export type OpenedCall =
  | { readonly kind: 'opened'; readonly input: VoiceSessionInput; readonly money: CallMoney }
  /** The call is refused, and nothing is held. Without a receipt nothing was charged, and no event was written. */
  | {
      readonly kind: 'refused';
      readonly reason: SessionEndReason;
      readonly receipt: CallSettlement | undefined;
    }
  /** Another process has the call, or the call is over. */
  | { readonly kind: 'lost' };

const LOST = { kind: 'lost' } as const;
const refusedFor = (reason: SessionEndReason) =>
  ({ kind: 'refused', reason, receipt: undefined }) as const;

export type CallParts = {
  readonly format: SoundFormat;
  readonly responder: Responder | undefined;
  /** True when the peer may still hear the notice that the call is recorded. */
  readonly mayAnnounce: boolean;
  /** Returns the text for a caller who has fallen silent; empty: none. */
  readonly prompt: () => string;
  /** Returns the number of characters spoken outside the answers since the last call of this function, for billing. */
  readonly spoken: () => number;
};

/**
 * Opens the money and the pipeline of a call that has its media stream: of a new call, or of a call that another process had.
 */
export async function openCall(deps: CallDeps, call: Call, parts: CallParts): Promise<OpenedCall> {
  const { log, sql } = deps;
  const { callId } = call;
  const isNew = call.startedAt === null;
  // The caller or the agent has hung up before the media stream came.
  if (isNew && call.status !== 'pending') return LOST;
  // A new call may also have a hold: of a process that was lost between the reserve and the row.
  const taken = await deps.takeSession(callId);
  if (taken === undefined) {
    if (!isNew) return LOST;
    // Another process has closed the session of the call, but was lost before it wrote the row. A closed session must not be
    // held again.
    if ((await findSessionEnd(sql, callId)) !== undefined) return refusedFor('error');
  }
  const wallet = await findWallet(sql, call.agentId);
  // Another process may have begun to record the call.
  const recording = call.options.isRecorded ? await findRecording(sql, callId) : undefined;
  const giveReason = (reason: SessionEndReason, epoch: number) =>
    giveEndReason(sql, { callId, epoch }, reason);
  const { mayAnnounce } = parts;
  const known = { taken, wallet, recording, mayAnnounce };
  const money = createCallMoney(deps, call, { giveReason, ...known });
  if (taken === undefined) {
    const refused = refusalOf(await holdReserve(deps, call, money.holds));
    if (refused !== undefined) return refusedFor(refused);
  }
  try {
    const opened = await openVoice(deps, call, { ...parts, money });
    if (opened.kind !== 'opened') {
      return await letGo(money, isNew, opened.kind === 'refused' ? opened.reason : 'error');
    }
    if (!isNew || (await markStarted(deps, call, wallet))) return opened;
    opened.input.release?.();
    await money.release();
    return LOST;
  } catch (error) {
    const ended = await letGo(money, isNew, 'error');
    if (ended.kind === 'lost') throw error;
    log.error({ err: error, callId }, 'a call could not be opened');
    return ended;
  }
}

/** Closes the holds of a call that cannot be opened. A new call costs nothing; a call that was talking before is settled. */
async function letGo(
  money: CallMoney,
  isNew: boolean,
  ending: SessionEndReason,
): Promise<Exclude<OpenedCall, { kind: 'opened' }>> {
  const reason = reasonOf(ending, money.holds.isReserveSpent);
  if (isNew) return (await money.release()) ? refusedFor(reason) : LOST;
  await money.holds.settle({ reason, status: 'failed' });
  const receipt = money.receipt();
  return receipt === undefined ? LOST : { kind: 'refused', reason, receipt };
}

/** Opens the voice of a call with its place at the recogniser, which the end of the session gives back. */
async function openVoice(
  deps: CallDeps,
  call: Call,
  parts: CallParts & { readonly money: CallMoney },
): Promise<OpenedCall> {
  const place = deps.room?.take(call.callId);
  let isOpened = false;
  try {
    const opened = await openVoiceAt(deps, call, parts, place);
    isOpened = opened.kind === 'opened';
    return opened;
  } finally {
    if (!isOpened) place?.release();
  }
}

async function openVoiceAt(
  deps: CallDeps,
  call: Call,
  { responder, format, money, prompt, spoken }: CallParts & { readonly money: CallMoney },
  place: EnginePlace | undefined,
): Promise<OpenedCall> {
  const engines = deps.enginesOf(call.agentId);
  const plan = planVoice(deps, call.options.voice, responder !== undefined);
  const { accountId } = call;
  const { providerKeys } = deps.cascades;
  const buyer = { accountId, providerKey: undefined };
  const ownKeys = await openOwnKeys({ ...deps, providerKeys }, [plan.llm], buyer);
  const wanted = fittingVoice(plan, configOf(deps, call, format, responder !== undefined));
  const cap = turnCapOf(plan);
  const pipeline = createCallPipeline({
    catalogue: deps.catalogue,
    clock: deps.clock,
    log: deps.log,
    random: deps.random,
    trace: deps.trace,
    cascades: deps.cascades,
    engines: place === undefined ? engines : enginesAt(engines, place),
    plan,
    ownKeys,
    cap,
    responder: responder?.llm,
    pronunciations: call.options.voice.conversation?.voiceTuning?.pronunciations ?? [],
    prompt,
    source: phoneSource(call),
    spender: spenderOf(call),
    sessionHolds: money.holds,
    holdNameOf: money.holdNameOf,
    meter: money.meter,
    lineSeconds: money.lineSeconds,
    takeSpoken: spoken,
  });
  const config = inItsLanguage(deps, call, { config: wanted, plan, pipeline });
  const reservesOf = (tokens: number) => pipeline.reserves(config, tokens);
  const { verdict, outputTokens } = await holdTurn(money.holds, reservesOf, cap.outputTokens);
  if (verdict.kind === 'lost') return LOST;
  const refused = refusalOf(verdict);
  if (refused !== undefined) return refusedFor(refused);
  const input = {
    owner: money.owner,
    sessionHolds: money.holds,
    cap,
    outputTokens,
    pipeline,
    config,
    release: () => place?.release(),
  };
  return { kind: 'opened', input, money };
}

/** Returns the settings with the language of the call, if its models have that language. */
function inItsLanguage(
  { log }: CallDeps,
  { callId, options }: Call,
  {
    config,
    pipeline,
    plan,
  }: {
    readonly config: SessionConfig;
    readonly pipeline: Pick<VoicePipeline, 'problemOf'>;
    readonly plan: CascadePlan;
  },
): SessionConfig {
  const language = options.voice.conversation?.language;
  if (language === undefined) return config;
  const change = inLanguage(plan.tts, config, language);
  const changed = { ...config, ...change };
  if (change !== undefined && pipeline.problemOf(changed) === undefined) return changed;
  log.warn({ callId, language }, 'the models of a call do not have its language');
  return config;
}

/**
 * Marks the call as answered, from which it is billed. Returns false when the call has ended meanwhile or its end was
 * requested.
 */
function markStarted({ sql }: CallDeps, call: Call, wallet: string | null): Promise<boolean> {
  const { callId } = call;
  return sql.begin(async (tx) => {
    const moved = await applyToCall(tx, callId, { type: 'media.opened' });
    // Another process may have marked the call before, and this process has taken its hold.
    if (moved === undefined) return (await findCall(tx, callId))?.status === 'in_progress';
    await insertEvents(tx, [callStarted({ ...call, wallet })]);
    return true;
  });
}

function configOf(
  deps: Pick<CallDeps, 'services'>,
  call: Call,
  format: SoundFormat,
  hasResponder: boolean,
): SessionConfig {
  const { conversation = {}, systemPrompt, voice } = call.options.voice;
  const { keyterms, voiceTuning } = conversation;
  return {
    isAnswering: DEFAULT_CONFIG.isAnswering,
    instructions: systemPrompt ?? '',
    outputModality: DEFAULT_CONFIG.outputModality,
    inputFormat: format,
    outputFormat: format,
    voice: voice ?? DEFAULT_CONFIG.voice,
    speed: voiceTuning?.speed ?? DEFAULT_CONFIG.speed,
    turnDetection: turnDetectionOf(conversation),
    transcription: DEFAULT_CONFIG.transcription,
    transcriptionModel: DEFAULT_CONFIG.transcriptionModel,
    transcriptionLanguage: DEFAULT_CONFIG.transcriptionLanguage,
    transcriptionPrompt: keyterms?.join(', ') ?? DEFAULT_CONFIG.transcriptionPrompt,
    tools: hasResponder ? [] : toolsOf(deps, call),
    toolChoice: DEFAULT_CONFIG.toolChoice,
    maxOutputTokens: DEFAULT_CONFIG.maxOutputTokens,
  };
}

const toolsOf = (
  { services }: Pick<CallDeps, 'services'>,
  { options }: Call,
): SessionConfig['tools'] => [
  ...CALL_TOOLS,
  ...(options.isRecorded ? [STOP_RECORDING_TOOL] : []),
  ...offeredTools(services, options.voice.tools ?? []),
];

/** Returns the end reason for a call whose reserve was refused. Undefined when it was not refused. */
function refusalOf(verdict: Extension): SessionEndReason | undefined {
  if (verdict.kind !== 'refused') return undefined;
  switch (verdict.refusal.reason) {
    case 'insufficient_balance':
    case 'cap_exceeded':
      return 'budget_exhausted';
    case 'agent_suspended':
    case 'agent_closed':
    case 'key_revoked':
      return 'suspended';
    default:
      return 'error';
  }
}
