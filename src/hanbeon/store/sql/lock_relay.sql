-- Returns nothing while another transaction relays.
SELECT r.relayed_to FROM hanbeon.relay AS r WHERE r.only_row = 1 @lock_skip
