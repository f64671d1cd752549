DELETE FROM hanbeon.instance AS i WHERE @prunable_instance RETURNING id
