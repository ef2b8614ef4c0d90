-- case: along a foreign key to rows that an earlier join repeats
SELECT count(*) FROM visits v JOIN orders o ON o.uid = v.uid JOIN calls c ON c.i2 = o.id
-- => refused
-- UNSUPPORTED at 62: JOIN
-- a join of protected tables must be on the privacy unit they share
-- Join on the privacy unit (a.unit = b.unit), or a public table on its key; or ask the data owner for `join_keys` in the policy: uid of w.visits and uid of w.calls.
