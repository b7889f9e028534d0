/** Whether this Node.js writes JSON however deep it is nested. Those before 26 throw where their stack ends. */
export const WRITES_ANY_DEPTH: boolean = (() => {
  let nested: unknown[] = [];
  for (let i = 0; i < 100_000; i++) nested = [nested];
  try {
    return JSON.stringify(nested).length > 0;
  } catch {
    return false;
  }
})();
