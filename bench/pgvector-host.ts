import { pgvectorServer } from '../test/support/pgvector-server.ts';

/** PostgreSQL with pgvector, compiled to WebAssembly, in the memory of a process of its own. Says where it listens. */
const { url } = await pgvectorServer();
process.send?.({ url });
process.on('disconnect', () => process.exit());
