import { z } from 'zod';
import { isObject } from '../../kernel/json.ts';
import { storableText } from '../../kernel/storable.ts';
import { EGRESS_LIMITS } from '../../platform/egress/limits.ts';
import type { SessionConfig } from '../../voice/session/session-config.ts';
import type { LlmPiece } from '../../voice/session/voice-pipeline.ts';
import { E164 } from '../e164.ts';
import { PHONE_LIMITS } from '../limits.ts';

type CallPiece = Extract<LlmPiece, { kind: 'call' }>;

const DIGITS = new RegExp(`^[0-9*#wW]{1,${PHONE_LIMITS.keypad.digits}}$`);
const { gatherSeconds, keys } = PHONE_LIMITS.keypad;
const LANGUAGE_TAG = /^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$/;

/** Actions that a responder can request of its call, beside speaking. */
const CallAction = z.discriminatedUnion('name', [
  /** Hangs up, after the words before it. `handoffData` is what a ConversationRelay application leaves to its developer. */
  z.object({
    name: z.literal('end_call'),
    handoffData: z.string().max(PHONE_LIMITS.relay.handoffChars).transform(storableText).optional(),
  }),
  /** Presses keys towards the peer; `w` waits half a second, `W` a whole second. */
  z.object({
    name: z.literal('send_digits'),
    digits: z.string().regex(DIGITS, 'must be of 0-9 * # w W'),
  }),
  /** Gathers keys that the peer presses, then requests an answer to them. `sensitive`: the digits are stored nowhere. */
  z.object({
    name: z.literal('gather_digits'),
    maxDigits: z.int().min(1).max(keys).optional(),
    finishOnKey: z
      .string()
      .regex(/^[0-9*#]?$/, 'must be one key, or empty for none')
      .optional(),
    timeoutSeconds: z.number().min(1).max(gatherSeconds.most).optional(),
    sensitive: z.boolean().optional(),
  }),
  /** Connects the peer to another number. */
  z.object({
    name: z.literal('transfer_call'),
    to: z.string().regex(E164, 'must be a number such as +14155550100'),
    summary: z.string().max(PHONE_LIMITS.transfer.summaryChars).transform(storableText).optional(),
  }),
  /** Plays a recording to the peer. */
  z.object({
    name: z.literal('play_audio'),
    url: z
      .string()
      .max(EGRESS_LIMITS.address.urlChars)
      .regex(/^https?:\/\//i, 'must be an http or https URL'),
  }),
  /** Stops the recording and deletes it, because the peer does not agree. */
  z.object({ name: z.literal('stop_recording') }),
  /** Changes the language that the call speaks and recognizes, from now on. */
  z.object({
    name: z.literal('set_language'),
    language: z.string().regex(LANGUAGE_TAG, 'must be a tag such as en-US'),
  }),
]);

export type CallAction = Readonly<z.output<typeof CallAction>>;

/** The names of the actions of a call. */
export const CALL_ACTIONS: ReadonlySet<string> = new Set(
  CallAction.options.map(({ shape }) => shape.name.value),
);

export type ReadCallAction =
  | { readonly kind: 'action'; readonly action: CallAction }
  /** A call action with invalid arguments. `message` is for the model. */
  | { readonly kind: 'malformed'; readonly name: string; readonly message: string };

/** Reads a function call of the responder. Undefined when the function is no action of a call. Never throws. */
export function readCallAction({
  argumentsJson,
  name,
}: Pick<CallPiece, 'name' | 'argumentsJson'>): ReadCallAction | undefined {
  if (!CALL_ACTIONS.has(name)) return undefined;
  let given: unknown;
  try {
    // Some models send an empty text as the arguments of a function without parameters.
    given = argumentsJson.trim() === '' ? {} : JSON.parse(argumentsJson);
  } catch {
    return { kind: 'malformed', name, message: 'The arguments are not JSON.' };
  }
  if (!isObject(given) || Array.isArray(given)) {
    return { kind: 'malformed', name, message: 'The arguments are no object.' };
  }
  const read = CallAction.safeParse({ ...given, name });
  if (read.success) return { kind: 'action', action: read.data };
  const [issue] = read.error.issues;
  return { kind: 'malformed', name, message: `${issue?.path.join('.')}: ${issue?.message}.` };
}

/** Returns the function call that `readCallAction` reads as this action. */
export function actionPiece({ name, ...given }: CallAction): CallPiece {
  return { kind: 'call', name, argumentsJson: JSON.stringify(given) };
}

/** The tool that a hosted model is offered beside `CALL_TOOLS` in a recorded call. */
export const STOP_RECORDING_TOOL: SessionConfig['tools'][number] = {
  type: 'function',
  name: 'stop_recording',
  description:
    'Stops the recording of this call and deletes it. Call it if the other person does not agree to be recorded.',
  parameters: { type: 'object', properties: {}, additionalProperties: false },
};

/** Actions of a call that a hosted model gets as tools. */
export const CALL_TOOLS: SessionConfig['tools'] = [
  {
    type: 'function',
    name: 'end_call',
    description: 'Hangs up. Say goodbye before you call it.',
    parameters: { type: 'object', properties: {}, additionalProperties: false },
  },
  {
    type: 'function',
    name: 'send_digits',
    description: 'Presses keys of the telephone, for example in the menu of a machine.',
    parameters: {
      type: 'object',
      properties: {
        digits: {
          type: 'string',
          description: 'Of 0-9, * and #. "w" waits half a second, "W" a whole one.',
        },
      },
      required: ['digits'],
      additionalProperties: false,
    },
  },
  {
    type: 'function',
    name: 'gather_digits',
    description:
      'Waits for the other person to press keys, for example a code. Ask for them before you call it. You are asked again once they are entered.',
    parameters: {
      type: 'object',
      properties: {
        maxDigits: {
          type: 'integer',
          description: `The entry is complete with so many digits, at most ${keys}.`,
        },
        finishOnKey: {
          type: 'string',
          description: 'The key that ends the entry: # where none is named.',
        },
        timeoutSeconds: { type: 'number', description: 'How long the next key is waited for.' },
        sensitive: {
          type: 'boolean',
          description:
            'For card numbers and the like: you learn how many digits there are, and not which.',
        },
      },
      additionalProperties: false,
    },
  },
  {
    type: 'function',
    name: 'transfer_call',
    description: 'Connects the other person to another telephone number.',
    parameters: {
      type: 'object',
      properties: {
        to: { type: 'string', description: 'The number with its country, such as +14155550100.' },
        summary: { type: 'string', description: 'What the call was about so far.' },
      },
      required: ['to'],
      additionalProperties: false,
    },
  },
];
