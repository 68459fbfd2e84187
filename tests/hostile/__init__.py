"""Files that try to crash, to spy on or to fill the machine of their reader, and files whose content is known."""
