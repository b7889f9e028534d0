/** Why the embedded database cannot serve, in a sentence that says what the operator can do. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
}
