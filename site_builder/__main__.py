"""`python -m site_builder`."""

from site_builder.cli import main

if __name__ == "__main__":
    main()
