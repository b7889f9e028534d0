const SUPPORTED_NODE = { oldest: [20, 19], before: 23 } as const;

/** Everything that can be wrong before the server stands ends here: one sentence and exit code 1. */
function refuseStart(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
}

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
const [oldestMajor, oldestMinor] = SUPPORTED_NODE.oldest;
const tooOld = major < oldestMajor || (major === oldestMajor && minor < oldestMinor);
if (tooOld || major >= SUPPORTED_NODE.before) {
  refuseStart(`This server needs Node.js 20.19 to 22; this is ${process.versions.node}.`);
} else {
  // Imported only now: an unsupported Node.js would fail inside a dependency, with a riddle.
  const { runServer } = await import('./run-server.ts');
  await runServer(refuseStart);
}

export {};
