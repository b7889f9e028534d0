import { readTwiml, type Verb } from './read-twiml.ts';
import type { SimCall } from './sim-call.ts';

/** A server that sends a call round and round is not followed for ever. */
const MOST_VERBS = 100;
const DIGIT_MS = 100;

/** Does what a response says, until something else is asked of the call or it is over. */
export async function runTwiml(call: SimCall, twiml: string): Promise<void> {
  const generation = call.generation;
  let verbs: readonly Verb[];
  try {
    verbs = readTwiml(twiml);
  } catch {
    return call.finish('completed');
  }
  for (const verb of verbs.slice(0, MOST_VERBS)) {
    if (call.generation !== generation) return;
    if (verb.name !== 'Reject') call.answer();
    if (await isLast(call, verb)) return;
  }
  if (call.generation === generation) call.finish('completed');
}

/** Runs one verb. True: nothing behind it runs. */
async function isLast(call: SimCall, verb: Verb): Promise<boolean> {
  switch (verb.name) {
    case 'Connect': {
      const stream = verb.children.find(({ name }) => name === 'Stream');
      if (stream !== undefined)
        await call.connect(stream.attributes.url ?? '', parametersOf(stream));
      return false;
    }
    case 'Play':
      await play(call, verb.attributes.digits ?? '');
      return false;
    case 'Pause':
      await call.deps.time.sleep(Number(verb.attributes.length ?? 1) * 1_000);
      return false;
    case 'Redirect':
      await call.obey(verb.text.trim());
      return true;
    case 'Dial':
      await dial(call, verb);
      return true;
    case 'Reject':
      call.finish(verb.attributes.reason === 'busy' ? 'busy' : 'failed');
      return true;
    case 'Hangup':
      call.finish('completed');
      return true;
    default:
      return false;
  }
}

const parametersOf = ({ children }: Verb): Record<string, string> =>
  Object.fromEntries(
    children.map(({ attributes }) => [attributes.name ?? '', attributes.value ?? '']),
  );

async function play(call: SimCall, digits: string): Promise<void> {
  await call.deps.time.sleep(digits.length * DIGIT_MS);
  if (!call.isOver) call.digitsHeard.push(digits);
}

/** The second party, what they are told before they are connected, and then what the server wants next. */
async function dial(call: SimCall, { attributes, text, children }: Verb): Promise<void> {
  const generation = call.generation;
  const number = children.find(({ name }) => name === 'Number');
  const to = (number?.text ?? text).trim();
  const callee = call.deps.calleeOf({ from: call.to, to });
  const { answers = 'human', ringMs = 100, hangsUpAtMs = 1_000 } = callee;
  const isBad = answers === 'busy' || answers === 'failed' || answers === 'no-answer';
  await call.deps.time.sleep(ringMs);
  const whispered = isBad || call.isOver ? undefined : await whisper(call, number, to);
  const limitMs = Number(attributes.timeLimit ?? 14_400) * 1_000;
  if (!isBad) await call.deps.time.sleep(Math.min(hangsUpAtMs, limitMs));
  const status = isBad ? answers : 'completed';
  call.transfers.push({ to, status, ...(whispered !== undefined && { whispered }) });
  if (call.generation !== generation) return;
  if (attributes.action === undefined) return call.finish('completed');
  await call.obey(attributes.action, { DialCallStatus: status });
}

/** The second party has answered: reports that, and asks what they are told. */
async function whisper(
  call: SimCall,
  number: Verb | undefined,
  to: string,
): Promise<string | undefined> {
  const { statusCallback, statusCallbackEvent, url } = number?.attributes ?? {};
  const leg = {
    ...call.parameters(),
    CallSid: `CA${call.sid.slice(3)}b`,
    ParentCallSid: call.sid,
    Direction: 'outbound-dial',
    From: call.from,
    To: to,
    CallStatus: 'in-progress',
  };
  if (statusCallbackEvent === 'answered') call.callbacks.status(statusCallback, leg);
  if (url === undefined) return undefined;
  const answer = await call.callbacks.ask(url, leg);
  return readTwiml(answer.body)
    .map((verb) => (verb.name === 'Say' ? verb.text : ''))
    .join('');
}
