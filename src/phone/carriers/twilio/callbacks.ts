import type { CallbackAnswer, CarrierCallbacks, Instruction } from '../carrier.ts';
import type { TwilioHooks } from './hooks.ts';
import { readTwilioCallback } from './read-callback.ts';
import { hasTwilioSignature, isSignedByTwilio, isUpgradeSignedByTwilio } from './signature.ts';
import { HANG_UP, NOTHING, rejectTwiml, streamTwiml, whisperTwiml } from './twiml.ts';

/** Creates the reader of Twilio's callbacks: forms signed with the account's token, which are answered in TwiML. */
export function createTwilioCallbacks(deps: {
  readonly authToken: string;
  readonly hooks: TwilioHooks;
}): CarrierCallbacks {
  const { authToken, hooks } = deps;
  return {
    hasSignature: hasTwilioSignature,
    isGenuine: (request) => isSignedByTwilio(authToken, request),
    isGenuineUpgrade: (request) => isUpgradeSignedByTwilio(authToken, request),
    read: readTwilioCallback,
    instruct: async (_, instruction) => answerOf(twimlOf(hooks, instruction)),
    whisper: (summary) => answerOf(whisperTwiml(summary)),
    acknowledgement: answerOf(NOTHING),
  };
}

function twimlOf(hooks: TwilioHooks, instruction: Instruction): string {
  switch (instruction.kind) {
    case 'stream':
      return streamTwiml(hooks, instruction.callId);
    case 'hang_up':
      return HANG_UP;
    case 'reject':
      return rejectTwiml(instruction.reason);
  }
}

const answerOf = (body: string): CallbackAnswer => ({
  status: 200,
  contentType: 'text/xml',
  body,
});
