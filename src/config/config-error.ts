/** A setting that the server refuses to start with. The message names the variable. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}
