UPDATE hanbeon.listener SET disabled_at = hanbeon.now() WHERE id = $1
