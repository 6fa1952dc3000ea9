"""
---
title: python -m site_builder
summary: The command line under the name of the package.
---
# python -m site_builder

All that it can do is told by [the command line](site_builder.cli). The installed command `site-builder` is the same.
"""

from site_builder.cli import main

if __name__ == "__main__":
    main()
