import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { EventAllowance } from '../../voice/live/event-allowance.ts';
import { TOO_MANY_EVENTS } from '../../voice/live/voice-endings.ts';
import type { VoicePipeline } from '../../voice/session/voice-pipeline.ts';
import type { VoiceSession } from '../../voice/session/voice-session.ts';
import { type ClientEvent, type EventProblem, parseClientEvent } from './client-event.ts';
import type { EventSender } from './event-sender.ts';
import { applyItemEvent } from './item-commands.ts';
import { readAppend } from './read-append.ts';
import { updateFitting } from './read-session-config.ts';
import { readResponseRequest } from './response-request.ts';

export type CommandDeps = {
  readonly allowance: EventAllowance;
  readonly random: Random;
  readonly sender: EventSender;
  readonly session: VoiceSession;
  readonly pipeline: Pick<VoicePipeline, 'problemOf'>;
  /** Returns the session object as its client sees it. */
  readonly render: () => Readonly<Record<string, unknown>>;
};

const HEARD_ELSEWHERE: EventProblem = {
  code: 'unsupported_event',
  message:
    'On a WebSocket the client holds the sound: stop playing it and send conversation.item.truncate.',
  param: 'type',
};

const ONLY_TRANSCRIBES: EventProblem = {
  code: 'invalid_value',
  message: 'This is a transcription session: it hears and does not answer.',
  param: 'type',
};

/** Executes the client's events. An invalid event gets an `error` event; the socket stays open. */
export class ClientCommands {
  readonly #deps: CommandDeps;
  readonly #session: VoiceSession;

  constructor(deps: CommandDeps) {
    this.#deps = deps;
    this.#session = deps.session;
  }

  /** Handles a frame that arrived at `nowMs`. The caller may reuse its bytes after this returns. */
  handle(frame: Uint8Array, nowMs: number): void {
    if (!this.#deps.allowance.take(nowMs)) {
      this.#session.fail(TOO_MANY_EVENTS);
      return;
    }
    const sound = readAppend(frame);
    const refused = sound && this.#session.append(sound, nowMs);
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
    const { sender } = this.#deps;
    const session = this.#session;
    switch (event.type) {
      case 'session.update':
      case 'transcription_session.update':
        return this.#update(event.session);
      case 'input_audio_buffer.append':
        return this.#append(event.audio, nowMs);
      case 'input_audio_buffer.commit':
        return session.commit();
      case 'input_audio_buffer.clear':
        session.clearInput();
        sender.send('input_audio_buffer.cleared');
        return undefined;
      case 'output_audio_buffer.clear':
        return HEARD_ELSEWHERE;
      case 'response.create':
        return this.#respond(event.response);
      case 'response.cancel':
        return this.#cancel(event.response_id);
      default:
        return applyItemEvent(this.#deps, event);
    }
  }

  #update(session: unknown): EventProblem | undefined {
    const { pipeline, render, sender } = this.#deps;
    const updated = updateFitting(pipeline, this.#session.config, session);
    if ('problem' in updated) return { code: 'invalid_value', ...updated.problem };
    this.#session.configure(updated.config);
    sender.send('session.updated', { session: render() });
    return undefined;
  }

  #append(base64: string, nowMs: number): EventProblem | undefined {
    const audio = Buffer.from(base64, 'base64');
    // The base64 decoder skips invalid characters, so too few bytes reveal them.
    if (audio.length < Math.floor((base64.length * 3) / 4) - 2) {
      return { code: 'invalid_value', message: 'audio is not base64.', param: 'audio' };
    }
    return this.#session.append(audio, nowMs);
  }

  #respond(response: unknown): EventProblem | undefined {
    const { pipeline, random } = this.#deps;
    const { config, conversation } = this.#session;
    const read = readResponseRequest(response, {
      config,
      pipeline,
      conversation,
      newItemId: () => newId(random, 'item_'),
    });
    if ('problem' in read) return read.problem;
    return config.isAnswering ? this.#session.respond(read.request) : ONLY_TRANSCRIBES;
  }

  #cancel(responseId: string | undefined): EventProblem | undefined {
    if (this.#session.cancel(responseId)) return undefined;
    return {
      code: 'response_cancel_not_active',
      // Clients recognise the first words of this message and ignore the error.
      message: 'Cancellation failed: no such response is in progress.',
      param: responseId === undefined ? null : 'response_id',
    };
  }
}

const textOf = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('utf8');
