import './supported-node.mjs';

/** Everything that can be wrong before the server stands ends here: one sentence and exit code 1. */
function refuseStart(sentence: string): void {
  process.stderr.write(`${sentence}\n`);
  process.exitCode = 1;
}

// Imported only now: it must not be read where Node.js is not supported.
const { runServer } = await import('./app/run-server.ts');
await runServer(refuseStart);
