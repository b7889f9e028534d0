-- A call is found by the work under a key that placed it; the phone service of all accounts can be off at once.
CREATE TABLE "telephony_stops" (
	"reason" text PRIMARY KEY NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
ALTER TABLE "calls" ADD COLUMN "work_id" text COLLATE "C";--> statement-breakpoint
CREATE UNIQUE INDEX "calls_work" ON "calls" USING btree ("work_id") WHERE work_id is not null;