// Exits 0 when a PostgreSQL server answers at the URL given, 1 otherwise.
import postgres from 'postgres';

const sql = postgres(process.argv[2], { max: 1, connect_timeout: 3, onnotice() {} });
try {
  await sql`select 1`;
} catch {
  process.exitCode = 1;
}
await sql.end({ timeout: 1 });
