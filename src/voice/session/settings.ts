import {
  renderSession,
  type SessionIdentity,
} from '../protocols/openai-realtime/render-session.ts';
import { DEFAULT_CONFIG, type SessionConfig } from '../protocols/openai-realtime/session-config.ts';
import { endpointingOf } from './turn-detection.ts';
import type { VoicePipeline } from './voice-pipeline.ts';

/** What a client has set up for its session, as it stands. */
export class Settings {
  readonly #identity: Omit<SessionIdentity, 'transcriber'>;
  readonly #transcriber: VoicePipeline['transcriberModel'];
  #current: SessionConfig;

  constructor(
    identity: Omit<SessionIdentity, 'transcriber'>,
    transcriber: VoicePipeline['transcriberModel'],
    config: SessionConfig = DEFAULT_CONFIG,
  ) {
    this.#identity = identity;
    this.#transcriber = transcriber;
    this.#current = config;
  }

  get current(): SessionConfig {
    return this.#current;
  }

  /** Answers whether the caller is to be listened to otherwise from here on. */
  change(config: SessionConfig): boolean {
    const before = this.#current;
    this.#current = config;
    return (
      config.inputFormat.type !== before.inputFormat.type ||
      this.#transcriber(config) !== this.#transcriber(before) ||
      config.transcriptionLanguage !== before.transcriptionLanguage ||
      config.transcriptionPrompt !== before.transcriptionPrompt ||
      JSON.stringify(endpointingOf(config.turnDetection)) !==
        JSON.stringify(endpointingOf(before.turnDetection))
    );
  }

  /** The session as its client is shown it. */
  render(): Readonly<Record<string, unknown>> {
    const transcriber = this.#transcriber(this.#current);
    return renderSession(this.#current, { ...this.#identity, transcriber });
  }
}
