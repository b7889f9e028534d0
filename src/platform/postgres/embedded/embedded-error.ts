/** Thrown when the embedded database cannot serve. Its sentence says what the operator can do. */
export class EmbeddedDatabaseError extends Error {
  override readonly name = 'EmbeddedDatabaseError';
}
