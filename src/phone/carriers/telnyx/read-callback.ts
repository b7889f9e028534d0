import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { isObject, type Json } from '../../../kernel/json.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import {
  type AnsweredBy,
  type CallbackEvent,
  CallbackMalformed,
  type CallbackRequest,
  type CarrierStatus,
  FAILED_TRANSFERS,
} from '../carrier.ts';
import { carrierPriceRaw } from '../carrier-price.ts';
import { type ClientState, decodeClientState } from './client-state.ts';
import { callIdOfUrl } from './hooks.ts';

const IGNORED: CallbackEvent = { kind: 'ignored' };
const BOUNDS = { depth: 12, values: 2_000, members: 1_000 };

/** Status of an ended call by its hang-up cause. Any other cause means `failed`. */
const STATUS_OF_CAUSE: ReadonlyMap<unknown, CarrierStatus> = new Map([
  ['normal_clearing', 'completed'],
  ['time_limit', 'completed'],
  ['user_busy', 'busy'],
  ['call_rejected', 'busy'],
  ['timeout', 'no-answer'],
  ['no_answer', 'no-answer'],
  ['originator_cancel', 'canceled'],
  ['not_found', 'invalid'],
  ['unallocated_number', 'invalid'],
  ['invalid_number_format', 'invalid'],
]);

/** Sequence number of each status. Telnyx does not number its callbacks, which may arrive out of order. */
const SEQUENCE_OF_STATUS: ReadonlyMap<CarrierStatus, number> = new Map([
  ['queued', 0],
  ['ringing', 1],
  ['in-progress', 2],
]);
const SEQUENCE_OF_END = 3;

const ANSWERED_BY: ReadonlyMap<unknown, AnsweredBy> = new Map([
  ['human', 'human'],
  ['human_residence', 'human'],
  ['human_business', 'human'],
  ['machine', 'machine_start'],
  ['fax_detected', 'fax'],
]);

type Told = {
  readonly payload: Json;
  readonly state: ClientState | undefined;
  readonly carrierCallId: string;
};

/** Reads a callback whose signature was checked. Throws CallbackMalformed. */
export function readTelnyxCallback(hook: string, { body }: CallbackRequest): CallbackEvent {
  if (hook !== 'voice') throw new CallbackMalformed(`telnyx: no hook is named "${hook}"`);
  if (body.length > PHONE_LIMITS.carrier.callbackBytes)
    throw new CallbackMalformed('telnyx: too long');
  const said = tryParseJson(body, BOUNDS);
  const data = isObject(said) ? said.data : undefined;
  if (!isObject(data) || typeof data.event_type !== 'string' || !isObject(data.payload)) {
    throw new CallbackMalformed('telnyx: a callback without an event');
  }
  const { payload } = data;
  const read = EVENTS.get(data.event_type);
  if (read === undefined) return IGNORED;
  return read({
    payload,
    state: decodeClientState(payload.client_state),
    carrierCallId: textOf(payload, 'call_control_id'),
  });
}

const EVENTS: ReadonlyMap<string, (told: Told) => CallbackEvent> = new Map([
  ['call.initiated', initiated],
  ['call.answered', answered],
  ['call.hangup', hungUp],
  ['call.cost', priced],
  ['streaming.stopped', streamOver],
  ['streaming.failed', streamOver],
  ['call.machine.detection.ended', machine],
  ['call.machine.premium.detection.ended', machine],
  ['call.machine.greeting.ended', machineEnded],
  ['call.machine.premium.greeting.ended', machineEnded],
  ['call.recording.saved', recorded],
]);

/** Reads the event of a new call: an incoming call needs its instructions now, an outbound call only when it is answered. */
function initiated(told: Told): CallbackEvent {
  if (told.payload.direction === 'incoming') {
    return told.state === undefined ? asking(told, undefined, false) : IGNORED;
  }
  return told.state?.kind === 'outbound' ? statusOf(told, 'ringing') : IGNORED;
}

function answered(told: Told): CallbackEvent {
  if (told.state?.kind === 'outbound') return asking(told, told.state.callId, false);
  if (told.state?.kind === 'target') {
    const { callId, callControlId } = told.state;
    return { kind: 'transferred', callId, carrierCallId: callControlId };
  }
  return told.state?.kind === 'inbound' ? statusOf(told, 'in-progress') : IGNORED;
}

function hungUp(told: Told): CallbackEvent {
  const status = STATUS_OF_CAUSE.get(told.payload.hangup_cause) ?? 'failed';
  if (told.state?.kind !== 'target') return statusOf(told, status);
  // The other person of a transfer did not answer: the call goes on here.
  if (status === 'completed') return IGNORED;
  const { callId, callControlId } = told.state;
  const asked = asking({ ...told, carrierCallId: callControlId }, callId, true);
  const transferFailed = FAILED_TRANSFERS.find((outcome) => outcome === status) ?? 'failed';
  return { ...asked, transferFailed };
}

/** Reads the price of a call from its last callback, which must be enabled once in Telnyx' portal. */
function priced(told: Told): CallbackEvent {
  const { total_cost, billed_duration_secs } = told.payload;
  const priceRaw = carrierPriceRaw(String(total_cost));
  const seconds = Number(billed_duration_secs);
  if (told.state?.kind === 'target' || !Number.isSafeInteger(seconds) || seconds <= 0)
    return IGNORED;
  return { ...statusOf(told, 'completed'), durationSeconds: seconds, priceRaw };
}

/**
 * Requests an instruction for a call whose media stream has ended. Also comes at the end of a call, when Telnyx refuses to open
 * a new stream.
 */
function streamOver(told: Told): CallbackEvent {
  if (told.state?.kind === 'transferring' || told.state?.kind === 'target') return IGNORED;
  const callId = told.state?.callId ?? callIdOfUrl(told.payload.stream_url);
  return callId === undefined ? IGNORED : asking(told, callId, true);
}

function machine({ payload, carrierCallId }: Told): CallbackEvent {
  const answeredBy = ANSWERED_BY.get(payload.result) ?? 'unknown';
  return { kind: 'machine', carrierCallId, answeredBy };
}

/** Reports the end of a machine's greeting, by its beep or by the silence after it. */
function machineEnded({ carrierCallId }: Told): CallbackEvent {
  return { kind: 'machine', carrierCallId, answeredBy: 'machine_end' };
}

/** Reports a complete recording. The callback has no id of the recording, so the id of the call's leg identifies it. */
function recorded({ payload, carrierCallId }: Told): CallbackEvent {
  const [from, until] = [payload.recording_started_at, payload.recording_ended_at].map(timeOf);
  const durationMs = from === undefined || until === undefined ? 0 : Math.max(0, until - from);
  const durationSeconds = Math.round(durationMs / 1_000);
  const recordingId = textOf(payload, 'call_leg_id');
  return { kind: 'recording', carrierCallId, recordingId, durationSeconds };
}

const asking = (
  { payload, carrierCallId }: Told,
  callId: string | undefined,
  isAgain: boolean,
): Extract<CallbackEvent, { kind: 'answered' }> => ({
  kind: 'answered',
  callId,
  carrierCallId,
  from: typeof payload.from === 'string' ? payload.from : '',
  to: typeof payload.to === 'string' ? payload.to : '',
  isAgain,
});

/**
 * Returns a status event without a duration: the times in a hang-up include the ringing. The price callback and the API have
 * the duration.
 */
const statusOf = (
  { state, carrierCallId }: Told,
  status: CarrierStatus,
): Extract<CallbackEvent, { kind: 'status' }> => ({
  kind: 'status',
  callId: state?.callId,
  carrierCallId,
  status,
  sequence: SEQUENCE_OF_STATUS.get(status) ?? SEQUENCE_OF_END,
  durationSeconds: null,
  priceRaw: null,
});

function textOf(payload: Json, name: string): string {
  const text = payload[name];
  if (typeof text === 'string' && text !== '' && text.length <= 256) return text;
  throw new CallbackMalformed(`telnyx: a callback without ${name}`);
}

function timeOf(text: unknown): number | undefined {
  const ms = typeof text === 'string' ? Date.parse(text) : Number.NaN;
  return Number.isNaN(ms) ? undefined : ms;
}
