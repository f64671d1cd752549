SELECT c.state, count(*) AS chains FROM hanbeon.chain AS c WHERE c.state @in($1 text) GROUP BY c.state
