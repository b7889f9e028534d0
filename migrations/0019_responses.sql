-- Responses that agents read again and continue, sealed.
CREATE TABLE "model_responses" (
	"id" text COLLATE "C" PRIMARY KEY NOT NULL,
	"agent_id" integer NOT NULL,
	"previous_id" text COLLATE "C",
	"item_ids" text[] NOT NULL,
	"bytes" integer NOT NULL,
	"sealed" "bytea" NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"expires_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "model_responses" ADD CONSTRAINT "model_responses_agent_id_agents_id_fk" FOREIGN KEY ("agent_id") REFERENCES "public"."agents"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "model_responses_agent" ON "model_responses" USING btree ("agent_id","expires_at","id","bytes");--> statement-breakpoint
CREATE INDEX "model_responses_due" ON "model_responses" USING btree ("expires_at");