import type { KeyObject } from 'node:crypto';
import type { Clock } from '../../../kernel/clock.ts';
import type { CallbackAnswer, CallbackEvent, CarrierCallbacks, Instruction } from '../carrier.ts';
import type { TelnyxApi } from './api.ts';
import { encodeClientState } from './client-state.ts';
import type { TelnyxHooks } from './hooks.ts';
import { readTelnyxCallback } from './read-callback.ts';
import { isSignedByTelnyx, telnyxSignature } from './signature.ts';
import { streamAgainOptions, streamOptions } from './stream-options.ts';

type Asked = Extract<CallbackEvent, { kind: 'answered' }>;

const ACKNOWLEDGEMENT: CallbackAnswer = {
  status: 200,
  contentType: 'application/json',
  body: '{}',
};

/**
 * Creates the reader of Telnyx's callbacks, which are signed JSON. Telnyx ignores the responses, so instructions are sent as
 * commands of its API.
 */
export function createTelnyxCallbacks(deps: {
  readonly api: TelnyxApi;
  readonly hooks: TelnyxHooks;
  readonly publicKey: KeyObject;
  readonly clock: Clock;
}): CarrierCallbacks {
  const { api, hooks } = deps;

  /** Has Telnyx open the media stream. A `command_id` makes Telnyx ignore the repeated command when a callback comes twice. */
  async function stream({ carrierCallId, callId: known, isAgain }: Asked, callId: string) {
    if (isAgain) {
      await api.command(carrierCallId, 'streaming_start', streamAgainOptions(hooks, callId));
      return;
    }
    const options = streamOptions(hooks, callId);
    if (known !== undefined) {
      const command_id = `${callId}-stream`;
      await api.command(carrierCallId, 'streaming_start', { ...options, command_id });
      return;
    }
    await api.command(carrierCallId, 'answer', {
      ...options,
      client_state: encodeClientState({ kind: 'inbound', callId }),
      command_id: `${callId}-answer`,
    });
  }

  async function perform(asked: Asked, instruction: Instruction): Promise<void> {
    switch (instruction.kind) {
      case 'stream':
        return stream(asked, instruction.callId);
      case 'hang_up':
        await api.command(asked.carrierCallId, 'hangup', {});
        return;
      case 'reject': {
        const cause = instruction.reason === 'busy' ? 'USER_BUSY' : 'CALL_REJECTED';
        const isWaiting = asked.callId === undefined;
        if (isWaiting) await api.command(asked.carrierCallId, 'reject', { cause });
        else await api.command(asked.carrierCallId, 'hangup', {});
        return;
      }
    }
  }

  return {
    hasSignature: (headers) => telnyxSignature(deps, headers) !== undefined,
    isGenuine: (request) => isSignedByTelnyx(deps, request),
    isGenuineUpgrade: (request) => hooks.isGenuineUpgrade(request),
    read: readTelnyxCallback,
    async instruct(asked, instruction) {
      await perform(asked, instruction);
      return ACKNOWLEDGEMENT;
    },
    acknowledgement: ACKNOWLEDGEMENT,
  };
}
