import { createHash } from 'node:crypto';

/** Returns the id of a tool call's work. It has one length and alphabet for any id that a model makes. */
export const toolWorkId = (callId: string, toolCallId: string): string =>
  `call-${createHash('sha256').update(`${callId}.${toolCallId}`).digest('hex')}`;
