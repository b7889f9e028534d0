import {
  type CarrierCalls,
  CarrierFailed,
  type DialRequest,
  type RecordingMethod,
} from '../carrier.ts';
import { carrierPriceRaw } from '../carrier-price.ts';
import { isUnknown, type TwilioApi } from './api.ts';
import type { TwilioHooks } from './hooks.ts';
import { isOver, statusOf } from './status.ts';
import { digitsTwiml, transferTwiml } from './twiml.ts';

/** Twilio's error code for a call whose state does not allow the change. */
const NOT_IN_PROGRESS = '21220';

/** Creates the part of the carrier that makes and controls calls at Twilio. */
export function createTwilioCalls(deps: {
  readonly api: TwilioApi;
  readonly hooks: TwilioHooks;
}): Omit<CarrierCalls, RecordingMethod> {
  const { api, hooks } = deps;

  const update = (callSid: string, change: { twiml: string }) =>
    api.ask((client) => client.calls(callSid).update(change));

  /** Ends a call. Returns false when the call's state does not allow this status, or Twilio no longer has the call. */
  async function end(callSid: string, status: 'completed' | 'canceled'): Promise<boolean> {
    try {
      await api.ask((client) => client.calls(callSid).update({ status }));
      return true;
    } catch (error) {
      const isOverAlready = error instanceof CarrierFailed && error.code === NOT_IN_PROGRESS;
      if (!isOverAlready && !isUnknown(error)) throw error;
      return false;
    }
  }

  return {
    async dial(request) {
      const { sid } = await api.ask((client) => client.calls.create(dialOf(hooks, request)));
      if (typeof sid === 'string') return { carrierCallId: sid };
      throw new CarrierFailed('away', 'twilio answered no call');
    },

    async hangUp(callSid) {
      // `completed` ends a call in progress; a call that still waits to be answered may have to be canceled.
      if (!(await end(callSid, 'completed'))) await end(callSid, 'canceled');
    },

    async find(callSid) {
      try {
        const call = await api.ask((client) => client.calls(callSid).fetch());
        const status = statusOf(call.status);
        if (status === undefined) throw new CarrierFailed('away', 'twilio answered no state');
        return {
          carrierCallId: callSid,
          status,
          durationSeconds: isOver(status) ? secondsOf(call.duration) : null,
          priceRaw: carrierPriceRaw(call.price, call.priceUnit ?? 'USD'),
        };
      } catch (error) {
        if (isUnknown(error)) return undefined;
        throw error;
      }
    },

    async sendDigits({ callId, carrierCallId }, digits) {
      await update(carrierCallId, { twiml: digitsTwiml(hooks, callId, digits) });
    },

    async transfer({ callId, carrierCallId }, order) {
      await update(carrierCallId, { twiml: transferTwiml(hooks, callId, order) });
    },
  };
}

function dialOf(hooks: TwilioHooks, request: DialRequest) {
  const { callId, detectsMachine } = request;
  return {
    from: request.from,
    to: request.to,
    url: hooks.voice(callId),
    method: 'POST',
    statusCallback: hooks.status(callId),
    statusCallbackEvent: ['initiated', 'ringing', 'answered', 'completed'],
    statusCallbackMethod: 'POST',
    timeout: request.ringSeconds,
    timeLimit: request.longestSeconds,
    // Detection is asynchronous: the greeting does not wait for its single result, which comes at the end of a machine's
    // greeting if that end is awaited.
    ...(detectsMachine && {
      machineDetection: request.awaitsGreetingEnd ? 'DetectMessageEnd' : 'Enable',
      asyncAmd: 'true',
      asyncAmdStatusCallback: hooks.machine(callId),
      asyncAmdStatusCallbackMethod: 'POST',
    }),
  };
}

const secondsOf = (duration: unknown): number | null =>
  /^\d{1,9}$/.test(String(duration)) ? Number(duration) : null;
