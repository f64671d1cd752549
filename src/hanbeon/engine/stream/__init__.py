"""Stream tasks: jobs that workers elsewhere do, reached through Redis Streams."""
