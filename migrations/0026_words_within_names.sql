-- Words within paths, file names, addresses and types are found, in either form of their letters. PostgreSQL writes
-- every row anew under its lock, so that what was indexed before is found, too.
ALTER TABLE "memory_chunks" drop column "words";--> statement-breakpoint
ALTER TABLE "memory_chunks" ADD COLUMN "words" "tsvector" GENERATED ALWAYS AS (to_tsvector('english', regexp_replace(normalize(content, NFC),
          '[/\\_@<>:=?#~]|(?<![0-9])[.]|[.](?![0-9])', ' ', 'g'))
          || array_to_tsvector(array['space ' || space_id::text])) STORED NOT NULL;--> statement-breakpoint
CREATE INDEX "memory_chunks_words" ON "memory_chunks" USING gin ("words");
