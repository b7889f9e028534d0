/** Prefixes of notes in the history, one for each kind of event that is not speech. */
export const NOTES = {
  keypad: '[keypad]',
  language: '[language]',
  line: '[line]',
  tool: '[tool]',
  transfer: '[transfer]',
} as const;

/** Returns true when a turn of the caller's side is a note and was not spoken. */
export const isNote = (content: string): boolean =>
  Object.values(NOTES).some((note) => content.startsWith(`${note} `));
