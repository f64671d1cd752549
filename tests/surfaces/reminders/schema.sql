-- Texts that are kept to be sent again.
CREATE TABLE hanbeon.reminder_text (
  id @identity,
  text text NOT NULL @reminder_check
);
