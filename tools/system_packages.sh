#!/usr/bin/env bash
# Install what the tests use and PyPI does not have: PgBouncer, Chromium, redis-server. Only as root, with apt-get: tests of
# what is still missing are skipped, and say so at the end; under CI=true they fail.
set -euo pipefail
declare -A packages=([pgbouncer]=pgbouncer [chromium]=chromium [redis-server]=redis-server)
missing=()
for program in "${!packages[@]}"; do
  PATH="$PATH:/usr/sbin" command -v "$program" >/dev/null || missing+=("${packages[$program]}")
done
[[ ${#missing[@]} -gt 0 && $EUID == 0 ]] && command -v apt-get >/dev/null || exit 0
echo "installing ${missing[*]} for the tests"
# RUNLEVEL: no server of the system is started; the tests start their own.
install=(env RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}")
"${install[@]}" &>/dev/null || { apt-get update -qq && "${install[@]}"; } &>/dev/null || echo "not installed: ${missing[*]}"
