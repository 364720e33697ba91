"""Rules for chats, one file each."""
