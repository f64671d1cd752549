"""Processes that outlive nobody: this runs apart from the engine, single-threaded and with the standard library alone.

engine ── guardian ── keeper ── leader ── whatever the work starts
              └────── keeper ── leader ── …

The guardian starts one keeper for each session. A keeper is a subreaper: the kernel hands it every descendant of its
leader whose parent has died, also one that left the session or forked twice. So that it has no children left is the
kernel's own word that nothing of the session runs any more.
"""
