/** What the history has of events that no one has said, each under the name of what it is about. */
export const NOTES = {
  keypad: '[keypad]',
  language: '[language]',
  line: '[line]',
  tool: '[tool]',
  transfer: '[transfer]',
} as const;

/** Whether words of the caller's side are a note and were not spoken. */
export const isNote = (content: string): boolean =>
  Object.values(NOTES).some((note) => content.startsWith(`${note} `));
