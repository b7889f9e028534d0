-- A ring of buckets as it reads later: what has left the window since is empty. Bucket n lies at n modulo the
-- length, and `head` is the newest.
CREATE OR REPLACE FUNCTION roll_buckets(buckets bigint[], head bigint, upto bigint) RETURNS bigint[]
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
  span CONSTANT integer := cardinality(buckets);
BEGIN
  IF upto <= head THEN
    RETURN buckets;
  END IF;
  -- Numbers of buckets outgrow an integer, which is what a loop counts in.
  FOR i IN 1 .. least(upto - head, span) LOOP
    buckets[(head + i) % span + 1] := 0;
  END LOOP;
  RETURN buckets;
END $$;
