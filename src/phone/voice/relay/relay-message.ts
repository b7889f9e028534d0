import { z } from 'zod';
import { tryParseJson } from '../../../kernel/json/parse-json.ts';
import { LIMITS } from '../../../kernel/limits.ts';
import { type CallAction, readCallAction } from '../call-actions.ts';

/** What an application of ConversationRelay says, as far as it is heard. */
export type RelayMessage =
  /** Words to speak. `isLast`: the answer ends with them. */
  | { readonly kind: 'text'; readonly token: string; readonly isLast: boolean }
  | { readonly kind: 'action'; readonly action: CallAction };

/** `lang`, `interruptible` and `preemptible` change nothing here: the caller may always interrupt. */
const Message = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('text'),
    token: z.string().max(LIMITS.phone.relayTokenChars),
    last: z.boolean().nullish(),
  }),
  z.object({ type: z.literal('play'), source: z.string() }),
  z.object({ type: z.literal('sendDigits'), digits: z.string() }),
  z.object({
    type: z.literal('language'),
    ttsLanguage: z.string().nullish(),
    transcriptionLanguage: z.string().nullish(),
  }),
  z.object({ type: z.literal('end') }),
]);

/** Reads a frame of an application. Undefined: it is no message, or one with a member that does not fit. */
export function readRelayMessage(bytes: Uint8Array): RelayMessage | undefined {
  const read = Message.safeParse(tryParseJson(bytes));
  if (!read.success) return undefined;
  const message = read.data;
  switch (message.type) {
    case 'text':
      return { kind: 'text', token: message.token, isLast: message.last === true };
    case 'play':
      return actionOf('play_audio', { url: message.source });
    case 'sendDigits':
      return actionOf('send_digits', { digits: message.digits });
    case 'language':
      return actionOf('set_language', {
        language: message.ttsLanguage ?? message.transcriptionLanguage,
      });
    case 'end':
      return actionOf('end_call', {});
  }
}

function actionOf(name: CallAction['name'], given: object): RelayMessage | undefined {
  const read = readCallAction({ name, argumentsJson: JSON.stringify(given) });
  return read?.kind === 'action' ? read : undefined;
}
