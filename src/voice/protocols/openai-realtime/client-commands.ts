import type { Ending } from '../../../../machines/transcription-stream.ts';
import type { Clock } from '../../../kernel/clock.ts';
import { newId } from '../../../kernel/ids.ts';
import type { Random } from '../../../kernel/random.ts';
import type { Answering } from '../../session/answering.ts';
import type { Conversation } from '../../session/conversation.ts';
import type { Listening } from '../../session/listening.ts';
import type { SessionTally } from '../../session/session-tally.ts';
import type { Settings } from '../../session/settings.ts';
import { TOO_MANY_EVENTS } from '../../session/voice-endings.ts';
import type { VoicePipeline } from '../../session/voice-pipeline.ts';
import { type ClientEvent, type EventProblem, parseClientEvent } from './client-event.ts';
import { EventAllowance } from './event-allowance.ts';
import type { EventSender } from './event-sender.ts';
import { applyItemEvent, type ItemEvent } from './item-commands.ts';
import { readAppend } from './read-append.ts';
import { type ResponseRequest, readResponseRequest } from './response-request.ts';
import { updateFitting } from './session-config.ts';

export type CommandDeps = {
  readonly clock: Clock;
  readonly random: Random;
  readonly sender: EventSender;
  readonly tally: Pick<SessionTally, 'interrupted'>;
  readonly conversation: Conversation;
  readonly listening: Listening;
  readonly answering: Answering;
  readonly settings: Settings;
  readonly pipeline: Pick<VoicePipeline, 'problemOf'>;
  readonly respond: (request: ResponseRequest) => EventProblem | undefined;
  /** Answers whether a response of the conversation waited. */
  readonly cancelWaiting: () => boolean;
  readonly fail: (ending: Ending) => void;
};

const HEARD_ELSEWHERE: EventProblem = {
  code: 'unsupported_event',
  message:
    'On a WebSocket the client holds the sound: stop playing it and send conversation.item.truncate.',
  param: 'type',
};

/** Carries out what the client sends. What cannot be is answered by an `error` event; the socket stays. */
export class ClientCommands {
  readonly #deps: CommandDeps;
  readonly #listening: Listening;
  readonly #allowance: EventAllowance;

  constructor(deps: CommandDeps) {
    this.#deps = deps;
    this.#listening = deps.listening;
    this.#allowance = new EventAllowance(deps.clock.monotonicMs());
  }

  get lastEventAtMs(): number {
    return this.#allowance.lastAtMs;
  }

  /** One frame, which came at `nowMs`. Its bytes may be gone when this returns. */
  handle(frame: Uint8Array, nowMs: number): void {
    if (!this.#allowance.take(nowMs)) {
      this.#deps.fail(TOO_MANY_EVENTS);
      return;
    }
    const sound = readAppend(frame);
    const refused = sound && this.#listening.append(sound, nowMs);
    if (sound !== undefined && refused === undefined) return;

    const { sender } = this.#deps;
    const parsed = parseClientEvent(textOf(frame));
    if ('problem' in parsed) {
      sender.refuse(parsed.problem);
      return;
    }
    const problem = refused ?? this.#apply(parsed.event, nowMs);
    if (problem !== undefined) {
      sender.refuse({ ...problem, eventId: parsed.event.event_id ?? null });
    }
  }

  #apply(event: ClientEvent, nowMs: number): EventProblem | undefined {
    const listening = this.#listening;
    switch (event.type) {
      case 'session.update':
      case 'transcription_session.update':
        return this.#update(event.session);
      case 'input_audio_buffer.append':
        return this.#append(event.audio, nowMs);
      case 'input_audio_buffer.commit':
        return listening.commit();
      case 'input_audio_buffer.clear':
        listening.clear();
        return undefined;
      case 'output_audio_buffer.clear':
        return HEARD_ELSEWHERE;
      case 'response.create':
        return this.#respond(event.response);
      case 'response.cancel':
        return this.#cancel(event.response_id);
      default:
        return this.#applyItem(event);
    }
  }

  /** An answer is cut to what was heard of it because its caller interrupted it, also when all of it had been sent. */
  #applyItem(event: ItemEvent): EventProblem | undefined {
    const { answering, tally } = this.#deps;
    const deps = { ...this.#deps, spoken: (id: string) => answering.spoken(id) };
    const problem = applyItemEvent(deps, event);
    if (problem === undefined && event.type === 'conversation.item.truncate') tally.interrupted();
    return problem;
  }

  #update(session: unknown): EventProblem | undefined {
    const { pipeline, listening, sender, settings } = this.#deps;
    const updated = updateFitting(pipeline, settings.current, session);
    if ('problem' in updated) return { code: 'invalid_value', ...updated.problem };
    if (settings.change(updated.config)) listening.restart();
    sender.send('session.updated', { session: settings.render() });
    return undefined;
  }

  #append(base64: string, nowMs: number): EventProblem | undefined {
    const audio = Buffer.from(base64, 'base64');
    // The decoder skips what is no base64, so that a wrong length is the sign of it.
    if (audio.length < Math.floor((base64.length * 3) / 4) - 2) {
      return { code: 'invalid_value', message: 'audio is not base64.', param: 'audio' };
    }
    return this.#listening.append(audio, nowMs);
  }

  #respond(response: unknown): EventProblem | undefined {
    const { conversation, pipeline, random, respond, settings } = this.#deps;
    const read = readResponseRequest(response, {
      config: settings.current,
      pipeline,
      conversation,
      newItemId: () => newId(random, 'item_'),
    });
    return 'problem' in read ? read.problem : respond(read.request);
  }

  #cancel(responseId: string | undefined): EventProblem | undefined {
    const { answering, cancelWaiting } = this.#deps;
    const active = answering.activeId;
    // Without an id it is the response of the conversation that is meant.
    const isMeant = responseId === undefined ? answering.isConversing : responseId === active;
    if (active === undefined || !isMeant) {
      if (responseId === undefined && cancelWaiting()) return undefined;
      return {
        code: 'response_cancel_not_active',
        // Clients know by these first words that they may pass over it.
        message: 'Cancellation failed: no such response is in progress.',
        param: responseId === undefined ? null : 'response_id',
      };
    }
    answering.interrupt('client_cancelled');
    return undefined;
  }
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
