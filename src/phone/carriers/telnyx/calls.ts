import { isObject, type Json } from '../../../kernel/json.ts';
import { PHONE_LIMITS } from '../../limits.ts';
import {
  type CarrierCalls,
  CarrierFailed,
  type DialRequest,
  type RecordingMethod,
} from '../carrier.ts';
import { isUnknown, type TelnyxApi } from './api.ts';
import { encodeClientState } from './client-state.ts';
import type { TelnyxHooks } from './hooks.ts';

/** Creates the part of the carrier that makes and controls calls at Telnyx. */
export function createTelnyxCalls(deps: {
  readonly api: TelnyxApi;
  readonly hooks: TelnyxHooks;
  readonly connectionId: string;
}): Omit<CarrierCalls, RecordingMethod> {
  const { api, hooks, connectionId } = deps;
  return {
    async dial(request) {
      const body = { connection_id: connectionId, ...dialOf(hooks, request) };
      const data = await api.ask({ method: 'POST', path: 'calls', body });
      const id = isObject(data) ? data.call_control_id : undefined;
      if (typeof id === 'string') return { carrierCallId: id };
      throw new CarrierFailed('away', 'telnyx answered no call');
    },

    async hangUp(callControlId) {
      await api.command(callControlId, 'hangup', {});
    },

    async find(callControlId) {
      const path = `calls/${encodeURIComponent(callControlId)}`;
      try {
        const data = await api.ask({ method: 'GET', path });
        if (isObject(data)) return foundCall(callControlId, data);
      } catch (error) {
        if (isUnknown(error)) return undefined;
        throw error;
      }
      throw new CarrierFailed('away', 'telnyx answered no call');
    },

    async sendDigits({ carrierCallId }, digits) {
      // The media stream stays open while Telnyx plays the digits.
      await api.command(carrierCallId, 'send_dtmf', { digits });
    },

    async transfer({ callId, carrierCallId }, { longestSeconds, to }) {
      await api.command(carrierCallId, 'streaming_stop', {
        client_state: encodeClientState({ kind: 'transferring', callId }),
      });
      await api.command(carrierCallId, 'transfer', {
        to,
        timeout_secs: PHONE_LIMITS.call.ringSeconds,
        time_limit_secs: longestSeconds,
        target_leg_client_state: encodeClientState({
          kind: 'target',
          callId,
          callControlId: carrierCallId,
        }),
        webhook_url: hooks.voice,
        webhook_url_method: 'POST',
      });
    },
  };
}

function dialOf(hooks: TelnyxHooks, request: DialRequest): Json {
  const { callId, detectsMachine } = request;
  return {
    from: request.from,
    to: request.to,
    timeout_secs: request.ringSeconds,
    time_limit_secs: request.longestSeconds,
    client_state: encodeClientState({ kind: 'outbound', callId }),
    command_id: `${callId}-dial`,
    webhook_url: hooks.voice,
    webhook_url_method: 'POST',
    ...(detectsMachine && {
      answering_machine_detection: request.awaitsGreetingEnd ? 'greeting_end' : 'detect',
    }),
  };
}

/** Returns the state and duration of a call. Telnyx does not report why it ended. */
function foundCall(carrierCallId: string, data: Json) {
  const { is_alive, end_time, call_duration } = data;
  const seconds = Number.isSafeInteger(call_duration) ? (call_duration as number) : null;
  const isOver = is_alive !== true && typeof end_time === 'string';
  const ended = seconds === 0 ? 'no-answer' : 'completed';
  return {
    carrierCallId,
    status: isOver ? ended : is_alive === true ? 'in-progress' : 'queued',
    durationSeconds: isOver ? seconds : null,
    priceRaw: null,
  } as const;
}
