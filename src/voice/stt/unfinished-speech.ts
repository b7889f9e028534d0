/** English words that lead on to another one; those that end a sentence as often are left out. */
const LEADING_ON = new Set(
  `a an the my your our their and or but so because if when while although though unless until than
  of for from with without into onto between at to as i i'm we're they're you're
  um uh uhm umm er erm hmm`.split(/\s+/),
);

/** Whether the text breaks off in the middle of a sentence, by its last word. */
export function isUnfinished(text: string): boolean {
  const last = /([\p{L}']+)\W*$/u.exec(text.toLowerCase())?.[1];
  return last !== undefined && LEADING_ON.has(last);
}
