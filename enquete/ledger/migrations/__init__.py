"""Steps from an older ledger's tables to today's, as Alembic runs them: one file a step in versions/, the version it
leads to in `alembic_version`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from alembic.config import Config
from alembic.runtime.environment import EnvironmentContext
from alembic.script import ScriptDirectory
from sqlalchemy import StaticPool, create_engine

from enquete.ledger.tables import VERSION


def migrate(dialect: str, connection: Any, stored: str) -> None:
    """From the `stored` version to today's, all in one transaction. connection: the driver's, in no transaction."""
    script = ScriptDirectory(str(Path(__file__).parent))
    started = f"{int(stored):04}"
    steps = script._upgrade_revs
    engine = create_engine(f"{dialect}://", creator=lambda: connection, poolclass=StaticPool)
    environment = EnvironmentContext(Config(), script, fn=lambda at, _: steps(VERSION, at or started))
    with engine.connect() as opened, environment:
        if dialect == "sqlite":  # its driver would begin one for neither tables nor reads
            opened.exec_driver_sql("BEGIN IMMEDIATE")
        environment.configure(connection=opened, transactional_ddl=True)
        with environment.begin_transaction():
            environment.run_migrations()
        opened.commit()
