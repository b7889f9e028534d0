-- A session can be ended before its token expires, alone or with all others of its account.
CREATE TABLE "ended_sessions" (
	"account_id" text NOT NULL,
	"id" text NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "ended_sessions_account_id_id_pk" PRIMARY KEY("account_id","id")
);
--> statement-breakpoint
ALTER TABLE "developers" ADD COLUMN "session_generation" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ended_sessions" ADD CONSTRAINT "ended_sessions_account_id_developers_account_id_fk" FOREIGN KEY ("account_id") REFERENCES "public"."developers"("account_id") ON DELETE no action ON UPDATE no action;