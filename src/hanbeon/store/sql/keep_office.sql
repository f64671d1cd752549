-- As it is until the commit: whoever makes jobs in it shares it with others who do.
SELECT o.version FROM hanbeon.office AS o WHERE o.id = $1 @share
