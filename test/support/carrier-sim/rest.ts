import type { Numbers, SimNumber } from './numbers.ts';
import type { Faults } from './options.ts';
import { answerRecording, changeRecording, listRecordings } from './recordings.ts';
import type { CallSettings, SimCall } from './sim-call.ts';

export type RestRequest = {
  readonly method: string;
  /** Below the account, without `.json`. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly form: URLSearchParams;
};

/** `lost`: carried out, and the connection is cut in place of an answer. */
export type RestAnswer =
  | { readonly status: number; readonly body?: unknown; readonly bytes?: Uint8Array }
  | 'lost';

export type Trigger = { sid: string; callbackUrl: string; triggerValue: string };

export type RestDeps = {
  readonly faults: Faults;
  readonly numbers: Numbers;
  readonly triggers: Trigger[];
  readonly place: (from: string, to: string, settings: CallSettings) => SimCall;
  readonly calls: readonly SimCall[];
  readonly findCall: (sid: string) => SimCall | undefined;
  readonly priceOf: (call: SimCall) => string | null;
};

const refused = (status: number, code: number, message: string): RestAnswer => ({
  status,
  body: { code, message, more_info: `https://www.twilio.com/docs/errors/${code}`, status },
});

export const unauthenticated = refused(401, 20_003, 'Authenticate');
const notInProgress = refused(400, 21_220, 'Call is not in-progress');
const notFound = refused(404, 20_404, 'The requested resource was not found');

/** Twilio's REST API, as far as a server of calls uses it. */
export function answerRest(deps: RestDeps, request: RestRequest): RestAnswer {
  const { method, path, query } = request;
  const [resource, sid, ...rest] = path.split('/');
  if (resource === 'AvailablePhoneNumbers' && rest[0] === 'Local') return search(deps, query);
  if (resource === 'IncomingPhoneNumbers') return numbers(deps, request, sid);
  if (resource === 'Usage' && sid === 'Triggers') return triggers(deps, request, rest[0]);
  if (resource === 'Recordings' && sid === undefined) return listRecordings(deps.calls, query);
  if (resource === 'Recordings') return answerRecording(deps.calls, request, sid ?? '') ?? notFound;
  if (resource !== 'Calls') return notFound;
  if (sid === undefined) return method === 'POST' ? dial(deps, request.form) : notFound;
  const call = deps.findCall(sid);
  if (call === undefined) return notFound;
  if (rest[0] === 'Recordings') {
    return changeRecording(call, request.form, rest[1]) ?? notInProgress;
  }
  return method === 'POST' ? update(deps, call, request.form) : callAnswer(deps, call);
}

function search({ numbers: known }: RestDeps, query: URLSearchParams): RestAnswer {
  const found = known.search({
    areaCode: query.get('AreaCode') ?? '',
    contains: query.get('Contains') ?? '',
    limit: Number(query.get('PageSize') ?? 50),
  });
  const available = found.map((number) => ({
    phone_number: number,
    friendly_name: `(${number.slice(2, 5)}) ${number.slice(5, 8)}-${number.slice(8)}`,
    locality: 'San Francisco',
    region: 'CA',
    iso_country: 'US',
    capabilities: { voice: true, SMS: true, MMS: true, fax: false },
  }));
  return { status: 200, body: { available_phone_numbers: available } };
}

function numbers(deps: RestDeps, { method, form, query }: RestRequest, sid?: string): RestAnswer {
  const { numbers: known, faults } = deps;
  if (method === 'DELETE') return known.release(sid ?? '') ? { status: 204 } : notFound;
  if (method === 'GET') {
    const name = query.get('FriendlyName');
    const found = known.owned.filter(({ friendlyName }) => name === null || friendlyName === name);
    return { status: 200, body: { incoming_phone_numbers: found.map(numberBody) } };
  }
  const bought = known.buy({
    phoneNumber: form.get('PhoneNumber') ?? '',
    friendlyName: form.get('FriendlyName') ?? '',
    voiceUrl: form.get('VoiceUrl') ?? '',
    statusCallback: form.get('StatusCallback') ?? '',
  });
  if (bought === undefined) return refused(400, 21_422, 'PhoneNumber is not available');
  if (faults.losesPurchaseAnswers-- > 0) return 'lost';
  return { status: 201, body: numberBody(bought) };
}

const numberBody = (number: SimNumber) => ({
  sid: number.sid,
  phone_number: number.phoneNumber,
  friendly_name: number.friendlyName,
  voice_url: number.voiceUrl,
  status_callback: number.statusCallback,
});

function dial({ place, faults, ...deps }: RestDeps, form: URLSearchParams): RestAnswer {
  const [from, to, url] = ['From', 'To', 'Url'].map((name) => form.get(name) ?? '');
  if (!/^\+\d{7,15}$/.test(to ?? '')) return refused(400, 21_211, 'Invalid To');
  if (deps.numbers.find(from ?? '') === undefined) return refused(400, 21_210, 'Unverified From');
  const detects = form.get('MachineDetection') !== null;
  const call = place(from ?? '', to ?? '', {
    url: url ?? '',
    statusCallback: form.get('StatusCallback') ?? undefined,
    machineCallback: detects ? (form.get('AsyncAmdStatusCallback') ?? undefined) : undefined,
    detectsAtOnce: form.get('MachineDetection') === 'Enable',
    timeoutMs: Number(form.get('Timeout') ?? 60) * 1_000,
    timeLimitMs: Number(form.get('TimeLimit') ?? 14_400) * 1_000,
  });
  if (faults.losesDialAnswers-- > 0) return 'lost';
  return { status: 201, body: callBody({ priceOf: deps.priceOf }, call) };
}

function update(deps: RestDeps, call: SimCall, form: URLSearchParams): RestAnswer {
  const [status, twiml] = [form.get('Status'), form.get('Twiml')];
  if (status !== null && call.faults.failsHangUps-- > 0) return refused(503, 20_503, 'Unavailable');
  const canEnd = status === 'completed' || (status === 'canceled' && !call.isAnswered);
  const isPossible = !call.isOver && (twiml === null ? canEnd : call.isAnswered);
  if (!isPossible) return notInProgress;
  if (twiml === null) call.finish(call.isAnswered ? 'completed' : 'canceled');
  else void call.instruct(twiml);
  return callAnswer(deps, call);
}

const callAnswer = (deps: RestDeps, call: SimCall): RestAnswer => ({
  status: 200,
  body: callBody(deps, call),
});

const callBody = ({ priceOf }: Pick<RestDeps, 'priceOf'>, call: SimCall) => ({
  sid: call.sid,
  from: call.from,
  to: call.to,
  // Twilio's API has no status of its own for a number that does not exist: only its callback has the SIP code.
  status: call.status === 'invalid' ? 'failed' : call.status,
  direction: call.direction,
  duration: call.durationSeconds === null ? null : String(call.durationSeconds),
  price: priceOf(call),
  price_unit: 'USD',
});

function triggers(deps: RestDeps, { method, form }: RestRequest, sid?: string): RestAnswer {
  const known = deps.triggers;
  if (method === 'GET') return { status: 200, body: { usage_triggers: known.map(triggerBody) } };
  if (method === 'DELETE') {
    const at = known.findIndex((trigger) => trigger.sid === sid);
    return at < 0 || known.splice(at, 1).length === 0 ? notFound : { status: 204 };
  }
  const made = {
    sid: `UT${String(known.length + 1).padStart(32, '0')}`,
    callbackUrl: form.get('CallbackUrl') ?? '',
    triggerValue: form.get('TriggerValue') ?? '',
  };
  known.push(made);
  return { status: 201, body: triggerBody(made) };
}

const triggerBody = ({ sid, callbackUrl, triggerValue }: Trigger) => ({
  sid,
  callback_url: callbackUrl,
  trigger_value: triggerValue,
  usage_category: 'totalprice',
  recurring: 'monthly',
});
