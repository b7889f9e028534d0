import {
  type AnsweredBy,
  type CallbackEvent,
  CallbackMalformed,
  type CallbackRequest,
  type CarrierStatus,
  FAILED_TRANSFERS,
} from '../carrier.ts';
import { carrierPriceRaw } from '../carrier-price.ts';
import { type Form, fieldOf, readForm } from './form-body.ts';
import { statusOf } from './status.ts';
import { TRIGGER_KIND } from './usage-trigger.ts';

const IGNORED: CallbackEvent = { kind: 'ignored' };

const ANSWERED_BY: ReadonlyMap<string, AnsweredBy> = new Map([
  ['human', 'human'],
  ['machine_start', 'machine_start'],
  ['machine_end_beep', 'machine_end'],
  ['machine_end_silence', 'machine_end'],
  ['machine_end_other', 'machine_end'],
  ['fax', 'fax'],
]);

/** Sequence numbers by state, for callbacks without a number of their own, such as that of an incoming call's end. */
const USUAL_ORDER: Readonly<Record<CarrierStatus, number>> = {
  queued: 0,
  ringing: 1,
  'in-progress': 2,
  completed: 3,
  busy: 3,
  'no-answer': 3,
  canceled: 3,
  failed: 3,
  invalid: 3,
};

/** Reads a callback whose signature was checked. Throws CallbackMalformed. */
export function readTwilioCallback(hook: string, request: CallbackRequest): CallbackEvent {
  const form = readForm(request.body);
  if (form === undefined) throw new CallbackMalformed('twilio: a callback beyond its bounds');
  const query = new URL(request.url).searchParams;
  switch (hook) {
    case 'voice':
      return voice(form, query);
    case 'status':
      return status(form, query);
    case 'machine':
      return {
        kind: 'machine',
        carrierCallId: required(form, 'CallSid'),
        answeredBy: ANSWERED_BY.get(required(form, 'AnsweredBy')) ?? 'unknown',
      };
    case 'transfer':
      return transferred(form, query);
    case 'whisper':
      return { kind: 'whisper', callId: callIdOf(query) ?? missing('call') };
    case 'recording':
      return recording(form);
    case 'usage':
      return usage(form);
    default:
      throw new CallbackMalformed(`twilio: no hook is named "${hook}"`);
  }
}

/**
 * Dial statuses of a transfer that was answered. Its call is over when the target hangs up, and does not return to this server.
 */
const TRANSFERRED = new Set(['completed', 'answered']);

function voice(form: Form, query: URLSearchParams): CallbackEvent {
  const dialled = fieldOf(form, 'DialCallStatus') ?? '';
  const callId = callIdOf(query);
  const carrierCallId = required(form, 'CallSid');
  if (TRANSFERRED.has(dialled)) {
    return callId === undefined ? IGNORED : { kind: 'transferred', callId, carrierCallId };
  }
  const transferFailed = FAILED_TRANSFERS.find((outcome) => outcome === dialled);
  return {
    kind: 'answered',
    callId,
    carrierCallId,
    from: required(form, 'From'),
    to: required(form, 'To'),
    isAgain: query.get('again') === '1',
    ...(transferFailed !== undefined && { transferFailed }),
  };
}

/** Reads a callback of the leg to the target of a transfer, whose parent leg is the call. */
function transferred(form: Form, query: URLSearchParams): CallbackEvent {
  const callId = callIdOf(query) ?? missing('call');
  const carrierCallId = fieldOf(form, 'ParentCallSid') ?? required(form, 'CallSid');
  const isAnswered = required(form, 'CallStatus') === 'in-progress';
  return isAnswered ? { kind: 'transferred', callId, carrierCallId } : IGNORED;
}

function status(form: Form, query: URLSearchParams): CallbackEvent {
  const told = statusOf(required(form, 'CallStatus'));
  if (told === undefined) return IGNORED;
  const isInvalid = told === 'failed' && NO_SUCH_NUMBER.has(fieldOf(form, 'SipResponseCode') ?? '');
  const state = isInvalid ? 'invalid' : told;
  return {
    kind: 'status',
    callId: callIdOf(query),
    carrierCallId: required(form, 'CallSid'),
    status: state,
    sequence: wholeNumber(fieldOf(form, 'SequenceNumber')) ?? USUAL_ORDER[state],
    durationSeconds: wholeNumber(fieldOf(form, 'CallDuration')) ?? null,
    // Twilio reports the price of a call minutes after its end: see `find` in calls.ts.
    priceRaw: null,
  };
}

function recording(form: Form): CallbackEvent {
  if ((fieldOf(form, 'RecordingStatus') ?? 'completed') !== 'completed') return IGNORED;
  return {
    kind: 'recording',
    carrierCallId: required(form, 'CallSid'),
    recordingId: required(form, 'RecordingSid'),
    durationSeconds: wholeNumber(fieldOf(form, 'RecordingDuration')) ?? 0,
  };
}

/** Reads a callback of a trigger of this server. Other triggers of the account may name the same hook: they are ignored. */
function usage(form: Form): CallbackEvent {
  const { recurring, triggerBy, usageCategory } = TRIGGER_KIND;
  const isOurs = Object.entries({
    UsageCategory: usageCategory,
    TriggerBy: triggerBy,
    Recurring: recurring,
  }).every(([name, ours]) => (fieldOf(form, name) ?? ours) === ours);
  if (!isOurs) return IGNORED;
  const firedAtMs = Date.parse(fieldOf(form, 'DateFired') ?? '');
  return {
    kind: 'usage',
    spentRaw: carrierPriceRaw(fieldOf(form, 'CurrentValue')),
    thresholdRaw: carrierPriceRaw(fieldOf(form, 'TriggerValue')),
    firedAtMs: Number.isNaN(firedAtMs) ? null : firedAtMs,
  };
}

const callIdOf = (query: URLSearchParams): string | undefined => query.get('call') ?? undefined;

/** SIP's answers for a number that does not exist: not found, gone, incomplete, ambiguous, does not exist anywhere. */
const NO_SUCH_NUMBER: ReadonlySet<string> = new Set(['404', '410', '484', '485', '604']);

const wholeNumber = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,9}$/.test(text) ? Number(text) : undefined;

function required(form: Form, name: string): string {
  const value = fieldOf(form, name);
  return value === undefined || value === '' || value.length > MOST_CHARS ? missing(name) : value;
}

function missing(name: string): never {
  throw new CallbackMalformed(`twilio: a callback without ${name}`);
}

/** Upper bound of the characters of a required value. */
const MOST_CHARS = 1_024;
