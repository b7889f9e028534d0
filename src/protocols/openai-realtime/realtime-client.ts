import type { Ending } from '../../../machines/transcription-stream.ts';
import { EngineBusy } from '../../engines/engine.ts';
import { newId } from '../../kernel/ids.ts';
import type { Random } from '../../kernel/random.ts';
import type { StopSignal } from '../../kernel/stop-signal.ts';
import type { EventAllowance } from '../../voice/live/event-allowance.ts';
import type { AnswerRequest } from '../../voice/session/answer-request.ts';
import type { AddedItem } from '../../voice/session/conversation.ts';
import type {
  AnswerClient,
  Played,
  UtteranceEnd,
  VoiceClient,
} from '../../voice/session/voice-client.ts';
import { StageFailed } from '../../voice/session/voice-pipeline.ts';
import type { Heard } from '../../voice/stt/transcriber-events.ts';
import type { EventSender } from './event-sender.ts';
import { renderItem } from './render-item.ts';
import { ResponseWriter } from './response-writer.ts';

const TRANSCRIPTION = 'conversation.item.input_audio_transcription';

/** Sends the events of a voice session in the realtime protocol. */
export class RealtimeClient implements VoiceClient {
  readonly conversationId: string;
  readonly #random: Random;
  readonly #sender: EventSender;
  readonly #allowance: EventAllowance;

  constructor(random: Random, sender: EventSender, allowance: EventAllowance) {
    this.#random = random;
    this.#sender = sender;
    this.#allowance = allowance;
    this.conversationId = newId(random, 'conv_');
  }

  get lastEventAtMs(): number {
    return this.#allowance.lastAtMs;
  }

  batch(work: () => void): void {
    this.#sender.batch(work);
  }

  get hasRoom(): boolean {
    return this.#sender.hasRoom;
  }

  room(signal: StopSignal): Promise<void> {
    return this.#sender.room(signal);
  }

  speechStarted(itemId: string, atMs: number): void {
    this.#sender.send('input_audio_buffer.speech_started', {
      audio_start_ms: Math.round(atMs),
      item_id: itemId,
    });
  }

  utterance({ evictedIds, item, previousId }: AddedItem, end: UtteranceEnd): void {
    const sender = this.#sender;
    sender.batch(() => {
      this.#ended(item.id, end);
      const place = { previous_item_id: previousId, item_id: item.id };
      sender.send('input_audio_buffer.committed', place);
      const added = { previous_item_id: previousId, item: renderItem(item) };
      sender.send('conversation.item.added', added);
      sender.send('conversation.item.done', added);
      for (const id of evictedIds) sender.send('conversation.item.deleted', { item_id: id });
    });
  }

  transcript(itemId: string, heard: Heard): void {
    const about = { item_id: itemId, content_index: 0 };
    if (heard.failed) {
      const error = {
        type: 'transcription_error',
        code: 'engine_failed',
        message: 'The speech could not be transcribed.',
      };
      this.#sender.send(`${TRANSCRIPTION}.failed`, { ...about, error });
      return;
    }
    this.#sender.batch(() => {
      // One delta: interim words may still change, but a client can only append deltas.
      this.#sender.send(`${TRANSCRIPTION}.delta`, { ...about, delta: heard.text });
      this.#sender.send(`${TRANSCRIPTION}.completed`, {
        ...about,
        transcript: heard.text,
        usage: { type: 'duration', seconds: heard.heardMs / 1_000 },
        latency_ms: heard.latencyMs,
      });
    });
  }

  transcriberFailed(error: Error): void {
    if (error instanceof StageFailed) {
      this.#sender.failed(error);
    } else if (error instanceof EngineBusy) {
      const message = `${error.message}; speak again in ${error.retryAfterSeconds} s`;
      this.#sender.failed({ code: 'engine_overloaded', message });
    } else {
      this.#sender.failed({ code: 'engine_failed', message: error.message });
    }
  }

  createAnswer(
    request: AnswerRequest,
    room: { readonly outputCap: number; readonly isShortened: boolean },
  ): AnswerClient {
    const conversationId = this.conversationId;
    return new ResponseWriter({
      ...room,
      request,
      conversationId,
      sender: this.#sender,
      random: this.#random,
    });
  }

  /** Returns an empty list: on a WebSocket the client plays the audio, stops it and sends `conversation.item.truncate`. */
  clearPlayback(): readonly Played[] {
    return [];
  }

  end(ending: Ending): void {
    this.#sender.end(ending);
  }

  #ended(itemId: string, end: UtteranceEnd): void {
    if (end.kind === 'stopped') {
      this.#sender.send('input_audio_buffer.speech_stopped', {
        audio_end_ms: Math.round(end.atMs),
        item_id: itemId,
      });
    }
    if (end.kind === 'silent') {
      this.#sender.send('input_audio_buffer.timeout_triggered', {
        audio_start_ms: Math.round(end.fromMs),
        audio_end_ms: Math.round(end.toMs),
        item_id: itemId,
      });
    }
  }
}
