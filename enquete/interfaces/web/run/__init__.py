"""What the pages of one run show, read from its files: nothing here asks anybody or writes anything."""
