import { DEFAULT_CONFIG, renderSession, type SessionConfig } from './session-config.ts';

/** What a client has set up for its session, as it stands. */
export class Settings {
  readonly #identity: Parameters<typeof renderSession>[1];
  #current: SessionConfig = DEFAULT_CONFIG;

  constructor(identity: Parameters<typeof renderSession>[1]) {
    this.#identity = identity;
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
      JSON.stringify(config.turnDetection) !== JSON.stringify(before.turnDetection)
    );
  }

  /** The session as its client is shown it. */
  render(): Readonly<Record<string, unknown>> {
    return renderSession(this.#current, this.#identity);
  }
}
