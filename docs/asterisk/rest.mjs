import { calls, end, newCall } from './call.mjs';
import { ACCOUNT, ari, NUMBERS, TOKEN, TRUNK } from './settings.mjs';

const POLL_MS = 1_000;
/** The numbers that agents rent, by their ids. */
const sold = new Map();

const credential = `Basic ${Buffer.from(`${ACCOUNT}:${TOKEN}`).toString('base64')}`;
const refused = (status, code, message) => ({ status, body: { code, message, status } });
const notFound = refused(404, 20_404, 'The requested resource was not found');

/** The part of Twilio's REST interface that the server asks. */
export function answerRest({ authorization, form, method, path, query }) {
  if (authorization !== credential) return refused(401, 20_003, 'Authenticate');
  const [resource, id] = path
    .replace(`/2010-04-01/Accounts/${ACCOUNT}/`, '')
    .replace('.json', '')
    .split('/');
  if (resource === 'AvailablePhoneNumbers') return search(query);
  if (resource === 'IncomingPhoneNumbers') return numbers(method, id, form, query);
  if (resource !== 'Calls') return notFound;
  if (id === undefined) return dial(form);
  const call = calls.get(id);
  if (call === undefined) return notFound;
  return method === 'POST' ? update(call, form) : { status: 200, body: callBody(call) };
}

function search(query) {
  const taken = new Set([...sold.values()].map(({ phone_number }) => phone_number));
  const [areaCode, contains] = [query.get('AreaCode') ?? '', query.get('Contains') ?? ''];
  const free = NUMBERS.filter(
    (number) =>
      !taken.has(number) && number.startsWith(`+1${areaCode}`) && number.includes(contains),
  );
  const available_phone_numbers = free
    .slice(0, Number(query.get('PageSize') ?? 20))
    .map((number) => ({
      phone_number: number,
      friendly_name: number,
      capabilities: { voice: true },
    }));
  return { status: 200, body: { available_phone_numbers } };
}

/** Numbers of the trunk are not bought: the server is told that they are, and has them in its books. */
function numbers(method, id, form, query) {
  if (method === 'DELETE') return sold.delete(id) ? { status: 204 } : notFound;
  if (method === 'GET') {
    const name = query.get('FriendlyName');
    const incoming_phone_numbers = [...sold.values()].filter(
      ({ friendly_name }) => friendly_name === name,
    );
    return { status: 200, body: { incoming_phone_numbers } };
  }
  const number = form.get('PhoneNumber') ?? '';
  const sid = `PN${number.slice(1).padStart(32, '0')}`;
  if (!NUMBERS.includes(number) || sold.has(sid))
    return refused(400, 21_422, 'PhoneNumber is not available');
  sold.set(sid, { sid, phone_number: number, friendly_name: form.get('FriendlyName') ?? '' });
  return { status: 201, body: sold.get(sid) };
}

/** Has Asterisk call a number over the trunk; once it is answered, the dialplan connects it to this bridge. */
async function dial(form) {
  const [from, to] = ['From', 'To'].map((name) => form.get(name) ?? '');
  if (!/^\+\d{7,15}$/.test(to) || !NUMBERS.includes(from))
    return refused(400, 21_211, 'Invalid From or To');
  const [voiceUrl, statusUrl] = [form.get('Url'), form.get('StatusCallback')];
  const call = newCall({ from, to, voiceUrl, statusUrl, isOurs: true });
  const ringSeconds = Number(form.get('Timeout') ?? 60);
  try {
    const query = new URLSearchParams({
      ...{ endpoint: `PJSIP/${to}@${TRUNK}`, context: 'agent-out', extension: 's', priority: '1' },
      ...{ callerId: from, timeout: String(ringSeconds), channelId: call.sid },
    });
    await ari('POST', `/channels?${query}`, { variables: { BRIDGE_CALL: call.sid } });
  } catch (error) {
    calls.delete(call.sid);
    return refused(503, 20_503, error.message);
  }
  call.status = 'ringing';
  void watch(call, Date.now() + (ringSeconds + 5) * 1_000);
  return { status: 201, body: callBody(call) };
}

/** A channel that is gone before its socket came was not answered. */
async function watch(call, deadline) {
  while (!call.isOver && call.asterisk === undefined) {
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const channel = await ari('GET', `/channels/${call.sid}`).catch(() => '');
    const isGone = channel === undefined || Date.now() > deadline;
    if (isGone && call.asterisk === undefined) await end(call, 'no-answer');
  }
}

function update(call, form) {
  if (form.get('Status') === null)
    return refused(400, 21_220, 'The bridge ends calls, and changes them in no other way');
  if (call.isOver) return refused(400, 21_220, 'Call is not in-progress');
  void end(call, call.answeredAt === undefined ? 'canceled' : 'completed');
  return { status: 200, body: callBody(call) };
}

/** A trunk has no price for a call. */
const callBody = ({ durationSeconds, from, sid, status, to }) => ({
  ...{ sid, from, to, status, price: null, price_unit: 'USD' },
  duration: durationSeconds === undefined ? null : String(durationSeconds),
});
