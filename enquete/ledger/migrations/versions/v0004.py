"""Alembic keeps the version. The number in `meta` stays, for earlier versions of Enquete: they say that a newer one
wrote this ledger."""

from alembic import op

revision, down_revision = "0004", "0003"


def upgrade() -> None:
    op.execute("UPDATE meta SET value='4' WHERE key='schema_version'")
