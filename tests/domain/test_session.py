"""Session ids of attempts: UUIDs derived from the job's id and the attempt's number alone."""

import uuid

from hanbeon.domain.job import is_id, session_id

JOB = "01a1e427-6ad5-7250-9753-fffffffffff0"


def test_it_is_a_uuid_of_version_8_and_the_same_whoever_asks() -> None:
    found = session_id(JOB, 1)
    assert is_id(found)
    assert (uuid.UUID(found).version, uuid.UUID(found).variant) == (8, uuid.RFC_4122)
    assert found == session_id(JOB, 1) == "01a1e427-6ad5-8250-9753-0000ffffffff"


def test_sessions_differ_for_incremented_job_ids() -> None:
    """Some make ids by adding one to the last."""
    jobs = [str(uuid.UUID(int=uuid.UUID(JOB).int + n)) for n in range(300)]
    sessions = {session_id(job, attempt) for job in jobs for attempt in range(1, 101)}
    assert len(sessions) == 300 * 100
