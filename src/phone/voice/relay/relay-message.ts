import { z } from 'zod';
import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import { type CallAction, readCallAction } from '../call-actions.ts';

/** A message of a ConversationRelay application that this server acts on. */
export type RelayMessage =
  /** Words to speak. `isLast`: the answer ends with these words. */
  | (Partial<Manner> & { readonly kind: 'text'; readonly token: string; readonly isLast: boolean })
  | (Partial<Manner> & { readonly kind: 'action'; readonly action: CallAction });

/** Rules for cutting an answer short. */
export type Manner = {
  /** The caller may interrupt it. Undefined: as the agent's settings say. */
  readonly isInterruptible: boolean | undefined;
  /** True when the next words or sound of the application cut the answer short. */
  readonly isPreemptible: boolean;
};

/** Twilio's values for the input that interrupts. Every value but `none` and false counts as interruptible. */
const Interruptible = z.union([z.boolean(), z.enum(['any', 'speech', 'dtmf', 'none'])]).nullish();
const manner = { interruptible: Interruptible, preemptible: z.boolean().nullish() };

const Message = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('text'),
    token: z.string().max(PHONE_LIMITS.relay.tokenChars),
    last: z.boolean().nullish(),
    ...manner,
  }),
  z.object({ type: z.literal('play'), source: z.string(), ...manner }),
  z.object({ type: z.literal('sendDigits'), digits: z.string() }),
  z.object({
    type: z.literal('language'),
    ttsLanguage: z.string().nullish(),
    transcriptionLanguage: z.string().nullish(),
  }),
  z.object({ type: z.literal('end'), handoffData: z.unknown().optional() }),
]);

/** Reads a frame of an application. Undefined when the frame is no message, or a member is invalid. */
export function readRelayMessage(bytes: Uint8Array): RelayMessage | undefined {
  const read = Message.safeParse(tryParseJson(bytes));
  if (!read.success) return undefined;
  const message = read.data;
  switch (message.type) {
    case 'text':
      return {
        kind: 'text',
        token: message.token,
        isLast: message.last === true,
        ...mannerOf(message),
      };
    case 'play':
      return actionOf('play_audio', { url: message.source }, mannerOf(message));
    case 'sendDigits':
      return actionOf('send_digits', { digits: message.digits });
    case 'language':
      return actionOf('set_language', {
        language: message.ttsLanguage ?? message.transcriptionLanguage,
      });
    case 'end':
      return actionOf('end_call', { handoffData: handoffOf(message.handoffData) });
  }
}

/** Twilio takes a text, and applications also send what it is made of. */
function handoffOf(data: unknown): string | undefined {
  if (data === undefined || data === null) return undefined;
  return typeof data === 'string' ? data : JSON.stringify(data);
}

const mannerOf = ({
  interruptible,
  preemptible,
}: z.output<z.ZodObject<typeof manner>>): Manner => ({
  isInterruptible:
    interruptible == null ? undefined : interruptible !== false && interruptible !== 'none',
  isPreemptible: preemptible === true,
});

function actionOf(name: CallAction['name'], given: object, how?: Manner): RelayMessage | undefined {
  const read = readCallAction({ name, argumentsJson: JSON.stringify(given) });
  return read?.kind === 'action' ? { ...read, ...how } : undefined;
}
