import { renderSession, type SessionIdentity } from './render-session.ts';
import { DEFAULT_CONFIG, type SessionConfig } from './session-config.ts';

/** What a client has set up for its session, as it stands. */
export class Settings {
  readonly #identity: SessionIdentity;
  #current: SessionConfig;

  constructor(identity: SessionIdentity, config: SessionConfig = DEFAULT_CONFIG) {
    this.#identity = identity;
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
      JSON.stringify(config.turnDetection) !== JSON.stringify(before.turnDetection)
    );
  }

  /** The session as its client is shown it. */
  render(): Readonly<Record<string, unknown>> {
    return renderSession(this.#current, this.#identity);
  }
}
