import type { Numbers } from '../numbers.ts';
import type { Faults } from '../options.ts';
import type { RestAnswer } from '../rest.ts';
import { type Body, refused, type TelnyxCall, type TelnyxCallSettings } from './telnyx-call.ts';
import { deleteRecording, listRecordings } from './telnyx-recording.ts';

export type TelnyxRequest = {
  readonly method: string;
  /** Below `/v2/`, decoded. */
  readonly path: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Body;
};

export type TelnyxOrder = {
  readonly id: string;
  readonly customerReference: string;
  readonly phoneNumber: string;
  status: 'pending' | 'success' | 'failure';
};

export type TelnyxRestDeps = {
  readonly faults: Faults;
  readonly numbers: Numbers;
  readonly orders: TelnyxOrder[];
  /** An order is carried out once it was asked about, in the place of at once. */
  readonly isLate: boolean;
  readonly place: (from: string, to: string, settings: TelnyxCallSettings) => TelnyxCall;
  readonly findCall: (id: string) => TelnyxCall | undefined;
  readonly calls: readonly TelnyxCall[];
  /** Where the sound of recordings is. */
  readonly filesUrl: () => string;
};

export const unauthenticated = refused(401, '10009', 'Authentication failed');
const notFound = refused(404, '10005', 'Resource not found');
const data = (body: unknown, status = 200): RestAnswer => ({ status, body: { data: body } });

/** The v2 API of Telnyx, as far as a server of calls uses it. */
export function answerTelnyx(deps: TelnyxRestDeps, request: TelnyxRequest): RestAnswer {
  const { method, path, query, body } = request;
  const [resource, id, , action] = path;
  switch (resource) {
    case 'available_phone_numbers':
      return search(deps, query);
    case 'number_orders':
      return method === 'POST' ? order(deps, body) : orders(deps, query, id);
    case 'phone_numbers':
      return method === 'DELETE' ? release(deps, id) : owned(deps, query);
    case 'calls': {
      if (id === undefined) return method === 'POST' ? dial(deps, body) : notFound;
      const call = deps.findCall(id);
      if (call === undefined) return notFound;
      return action === undefined ? data(callBody(call)) : call.command(action, body);
    }
    case 'recordings': {
      if (method !== 'DELETE') return data(listRecordings(deps.calls, query, deps.filesUrl()));
      return deleteRecording(deps.calls, id ?? '') ? data({ id }) : notFound;
    }
    default:
      return notFound;
  }
}

function search({ numbers }: TelnyxRestDeps, query: URLSearchParams): RestAnswer {
  const found = numbers.search({
    areaCode: query.get('filter[national_destination_code]') ?? '',
    contains: query.get('filter[phone_number][contains]') ?? '',
    limit: Number(query.get('filter[limit]') ?? 50),
  });
  return data(
    found.map((number) => ({
      record_type: 'available_phone_number',
      phone_number: number,
      region_information: [
        { region_type: 'location', region_name: 'SAN FRANCISCO' },
        { region_type: 'state', region_name: 'CA' },
      ],
    })),
  );
}

function order(deps: TelnyxRestDeps, body: Body): RestAnswer {
  const { numbers, orders: known, faults, isLate } = deps;
  const [wanted] = (body.phone_numbers ?? []) as readonly { phone_number?: string }[];
  const phoneNumber = wanted?.phone_number ?? '';
  const customerReference = String(body.customer_reference);
  const bought = numbers.buy({
    phoneNumber,
    friendlyName: customerReference,
    voiceUrl: '',
    statusCallback: '',
  });
  if (bought === undefined) return refused(422, '85001', 'Number is not available');
  const made: TelnyxOrder = {
    id: bought.sid,
    customerReference,
    phoneNumber,
    status: isLate ? 'pending' : 'success',
  };
  known.push(made);
  return faults.losesPurchaseAnswers-- > 0 ? 'lost' : data(orderBody(made));
}

function orders({ orders: known }: TelnyxRestDeps, query: URLSearchParams, id?: string) {
  if (id !== undefined) {
    const asked = known.find((one) => one.id === id);
    if (asked === undefined) return notFound;
    asked.status = 'success';
    return data(orderBody(asked));
  }
  const reference = query.get('filter[customer_reference]');
  const found = known.filter(
    ({ customerReference }) => reference === null || customerReference === reference,
  );
  return data(found.map(orderBody));
}

const orderBody = ({ id, status, customerReference, phoneNumber }: TelnyxOrder) => ({
  id,
  record_type: 'number_order',
  status,
  customer_reference: customerReference,
  phone_numbers: [{ id: `${id}-1`, phone_number: phoneNumber, status }],
});

function owned({ numbers }: TelnyxRestDeps, query: URLSearchParams): RestAnswer {
  const wanted = query.get('filter[phone_number]');
  const found = numbers.owned.filter(
    ({ phoneNumber }) => wanted === null || phoneNumber === wanted,
  );
  return data(found.map(({ sid, phoneNumber }) => ({ id: sid, phone_number: phoneNumber })));
}

const release = ({ numbers }: TelnyxRestDeps, id = ''): RestAnswer =>
  numbers.release(id) ? data({ id }) : notFound;

function dial({ place, faults, numbers }: TelnyxRestDeps, body: Body): RestAnswer {
  const [from, to] = [String(body.from), String(body.to)];
  if (!/^\+\d{7,15}$/.test(to)) return refused(422, '10016', 'Phone number must be in +E.164');
  if (numbers.find(from) === undefined) return refused(403, '10010', 'Unverified origin number');
  const call = place(from, to, {
    webhookUrl: String(body.webhook_url),
    clientState: typeof body.client_state === 'string' ? body.client_state : undefined,
    timeoutMs: Number(body.timeout_secs ?? 30) * 1_000,
    timeLimitMs: Number(body.time_limit_secs ?? 14_400) * 1_000,
    detectsMachine: body.answering_machine_detection !== undefined,
  });
  return faults.losesDialAnswers-- > 0 ? 'lost' : data(callBody(call));
}

const callBody = (call: TelnyxCall) => ({
  record_type: 'call',
  call_control_id: call.sid,
  call_leg_id: call.sid,
  is_alive: !call.isOver,
  client_state: call.clientState,
  ...(call.isOver && {
    end_time: new Date().toISOString(),
    call_duration: call.durationSeconds,
  }),
});
