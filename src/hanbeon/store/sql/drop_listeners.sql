DELETE FROM hanbeon.listener WHERE id @in($1 @uuid)
