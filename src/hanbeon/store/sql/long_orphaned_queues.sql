SELECT q.id, q.name FROM hanbeon.queue AS q WHERE @long_left
