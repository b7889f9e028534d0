import { serveWorker } from '../../src/engines/threads/worker-host.ts';
import type { IndexContract } from '../../src/memory/index/index-worker.ts';

const nothing = { bytes: 0, evicted: [] };

/** An index whose searches trap. */
serveWorker<IndexContract>(
  {
    open: () => ({ ...nothing, value: undefined }),
    add: () => ({ ...nothing, value: 'done' }),
    remove: () => ({ ...nothing, value: 'done' }),
    drop: () => ({ ...nothing, value: undefined }),
    search() {
      const error = new Error('unreachable');
      error.name = 'RuntimeError';
      throw error;
    },
  },
  { overlap: true },
);
