import { requireModel } from '../../../models/catalogue/require-model.ts';
import { inLanguage } from '../../../voice/cascade/voices.ts';
import { CarrierFailed } from '../../carriers/carrier.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import type { CallRecorder } from '../../recordings/call-recorder.ts';
import type { GatherRules } from '../../voice/key-entry.ts';
import { NOTES } from '../../voice/notes.ts';
import type { Call } from '../call.ts';
import type { CallDeps } from '../call-deps.ts';
import { putOffCall } from '../call-store.ts';
import { directCall } from '../hear-carrier.ts';
import type { ActionOfCall } from '../live-call-options.ts';
import { noteTransferSummary } from './action-store.ts';
import type { LiveActions } from './live-actions.ts';
import { transferNote } from './transfer-note.ts';
import { watchTransfer } from './watch-transfer.ts';

/** The methods of a call recorder that actions use. */
export type ActedRecorder = Pick<CallRecorder, 'finish' | 'pause' | 'resume' | 'stop'>;

/** The parts of a call that actions use beside its conversation. */
export type ActedParts = {
  readonly recorder: ActedRecorder;
  /** Returns the longest time, in seconds, that a transferred call may last after the other person has answered. */
  readonly transferSeconds: () => number;
};

type Acted = ActedParts & {
  readonly deps: CallDeps;
  readonly call: Call;
  readonly actions: LiveActions;
};

type Action<Name extends ActionOfCall['name']> = Extract<ActionOfCall, { name: Name }>;

/** Carries an action out. A failed action is logged, and the conversation goes on. */
export function carryOut(
  deps: CallDeps,
  call: Call,
  parts: ActedParts,
  action: ActionOfCall,
): void {
  const { callId } = call;
  const actions = deps.live.get(callId)?.actions;
  if (actions === undefined) return;
  perform({ deps, call, actions, ...parts }, action).catch((err: unknown) =>
    deps.log.warn({ err, callId, action: action.name }, 'an action of a call failed'),
  );
}

async function perform(acted: Acted, action: ActionOfCall): Promise<void> {
  const { actions, deps, recorder } = acted;
  switch (action.name) {
    case 'send_digits':
      return sendDigits(acted, action);
    case 'transfer_call':
      return transfer(acted, action);
    case 'gather_digits':
      return gather(acted, rulesOf(action));
    case 'play_audio':
      return actions.sounds.play((signal) => deps.openSound(action.url, signal));
    case 'set_language':
      return setLanguage(acted, action);
    case 'stop_recording':
      return recorder.stop();
  }
}

async function sendDigits(
  { actions, call: { callId, carrierCallId }, deps: { carrier, sql } }: Acted,
  { digits }: Action<'send_digits'>,
): Promise<void> {
  if (carrierCallId === null) return;
  // Twilio closes the media stream while it plays digits, and opens it again after the last digit.
  const digitsMs = lengthMs(digits);
  await actions.sendDigits(digitsMs, async () => {
    await carrier.calls.sendDigits({ callId, carrierCallId }, digits);
    await putOffCall(sql, callId, digitsMs + PHONE_LIMITS.call.sweepGraceMs);
  });
}

/** Returns the milliseconds that the carrier takes to send digits, pauses included. */
function lengthMs(digits: string): number {
  const { digitMs } = PHONE_LIMITS.keypad;
  const long = digits.length - digits.replaceAll('W', '').length;
  return (digits.length + long) * digitMs;
}

/** Transfers a call once the peer has heard the sound up to now. When the carrier refuses, the conversation continues. */
async function transfer(
  { actions, call, deps, recorder, transferSeconds }: Acted,
  { summary, to }: Action<'transfer_call'>,
): Promise<void> {
  const { carrier, live, sql } = deps;
  const { accountId, callId, carrierCallId } = call;
  if (carrierCallId === null || actions.isTransferring) return;
  const refusal = await deps.refusalOf(to, accountId);
  if (refusal !== undefined) {
    live.get(callId)?.say(`I cannot connect you: ${refusal.message}.`);
    return;
  }
  await noteTransferSummary(sql, callId, summary ?? null);
  await actions.heardOut();
  // The person to whom the caller is connected has not heard the notice of the recording, so the recording ends first.
  await recorder.finish().catch((error: unknown) => {
    live.get(callId)?.say('I cannot connect you now.');
    throw error;
  });
  actions.transferring();
  watchTransfer(deps, callId, actions);
  try {
    await carrier.calls.transfer(
      { callId, carrierCallId },
      { to, longestSeconds: transferSeconds(), whispers: summary !== undefined },
    );
  } catch (error) {
    // The carrier stops the media stream when it begins a transfer. After a refusal this server requests the stream again;
    // without a response the transfer may be under way, and its callbacks report the outcome.
    const mayHaveBegun = error instanceof CarrierFailed && error.kind === 'away';
    if (actions.isAttached) actions.transferFailed(transferNote('failed'));
    else if (!mayHaveBegun) await comesBack({ actions, call, deps });
    throw error;
  }
  await putOffCall(sql, callId, PHONE_LIMITS.call.sweepGraceMs);
}

/** Makes the carrier open the media stream again, which the carrier closed for a transfer that it then refused. */
async function comesBack({
  actions,
  call,
  deps,
}: Pick<Acted, 'actions' | 'call' | 'deps'>): Promise<void> {
  const { callId, carrierCallId, from, to } = call;
  if (carrierCallId === null) return;
  actions.transferRefused(deps.lineLostMs ?? PHONE_LIMITS.call.lineLostMs);
  const asked = {
    kind: 'answered',
    callId,
    carrierCallId,
    from,
    to,
    isAgain: true,
    transferFailed: 'failed',
  } as const;
  await deps.carrier.callbacks?.instruct(asked, await directCall(deps, asked));
}

/** Gathers keypad digits. Sensitive digits are gathered only while the recording of the call is paused. */
async function gather(
  { actions, call: { callId }, deps: { live }, recorder }: Acted,
  rules: GatherRules,
): Promise<void> {
  if (!rules.isSensitive) {
    actions.gather(rules, () => {});
    return;
  }
  // Keys are held back from now on: the agent has asked for them, so the caller may press them before the recording is paused.
  actions.keepKeys(rules);
  await recorder.pause().catch((error: unknown) => {
    actions.dropKeys();
    actions.note(
      `${NOTES.keypad} No digits were gathered: the keys cannot be used now, because the call is recorded.`,
    );
    live.get(callId)?.respond();
    throw error;
  });
  actions.gather(rules, () => recorder.resume());
}

function rulesOf(action: Action<'gather_digits'>): GatherRules {
  const { finishOnKey = '#', maxDigits, sensitive, timeoutSeconds } = action;
  return {
    maxDigits: maxDigits ?? PHONE_LIMITS.keypad.keys,
    finishOnKey: finishOnKey === '' ? undefined : finishOnKey,
    timeoutMs: (timeoutSeconds ?? PHONE_LIMITS.keypad.gatherSeconds.usual) * 1_000,
    isSensitive: sensitive ?? false,
  };
}

/**
 * Changes the language that the call hears and speaks. A language that its models lack changes nothing, and the responder gets
 * a note.
 */
async function setLanguage(
  { actions, call: { callId }, deps: { catalogue, log, models } }: Acted,
  { language }: Action<'set_language'>,
): Promise<void> {
  const change = inLanguage(requireModel(catalogue, models.tts, 'tts'), actions.config, language);
  const problem = change === undefined ? NO_VOICE : await actions.configure(change);
  if (problem === undefined) return;
  log.warn({ callId, language, problem: problem.message }, 'the language of a call stays');
  actions.note(`${NOTES.language} ${language} is not available; the language stays as it is.`);
}

const NO_VOICE = { message: 'the voice of this server does not speak it' };
