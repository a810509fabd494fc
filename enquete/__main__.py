"""`python -m enquete`: the command line."""

from enquete.interfaces.cli.app import main

if __name__ == "__main__":
    main()
