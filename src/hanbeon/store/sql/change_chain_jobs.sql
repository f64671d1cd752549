UPDATE hanbeon.chain_job AS b SET state = r.state, job_return = r.job_return
FROM @rows($1 AS r; id bigint, state text, job_return text)
WHERE @few(r.id) AND b.id = r.id
