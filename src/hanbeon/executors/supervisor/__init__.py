"""Supervision of processes, apart from the engine: single-threaded, and with the standard library alone.

engine ── supervisor ── session supervisor ── leader ── whatever the work starts
               └─────── session supervisor ── leader ── …

The supervisor starts one session supervisor for each session. That is a subreaper: the kernel hands it every descendant
of its leader whose parent has died, also one that left the session or forked twice. When it has no children left, the
kernel guarantees that nothing of the session runs any more.
"""
