/** Returns the reason of a failed exchange in a word for a terminal: the system's code if it has one, such as ECONNREFUSED. */
export function failureWord(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return 'timed out';
  const { code } = error as NodeJS.ErrnoException;
  if (code !== undefined && code !== 'UND_ERR_SOCKET') return code;
  return error.cause instanceof Error ? failureWord(error.cause) : 'the connection ended';
}
